#pragma once

#include <memory>

#include "sotto/objective/engine.hpp"
#include "sotto/oracle/api/oracle.hpp"
#include "sotto/oracle/batches.hpp"
#include "sotto/oracle/coordinate_sums.hpp"
#include "sotto/oracle/per_example_sum.hpp"
#include "sotto/random/stream.hpp"

namespace sotto {

/// Answers without noise: for non-private references and for tests. Everything it releases carries
/// the event `non_private`, and a run with it is marked as not private.
class ExactOracle final : public Oracle {
 public:
  /// `clips`: whether queries' clip radii are honoured (tests of private methods at zero noise) or
  /// ignored (non-private references).
  ExactOracle(const Engine& engine, PublicProblem problem, Stream sampling, bool clips = false);

  const PublicProblem& problem() const override { return problem_; }
  Expected<Released<Vector>> gradient(const GradientQuery& query) override;
  Expected<Released<Vector>> gradient_pair(const GradientPairQuery& query) override;
  /// The best candidate; the first of equals.
  Expected<Released<std::int64_t>> select(const SelectionQuery& query) override;
  Expected<Released<double>> loss(const LossQuery& query) override;
  Expected<Released<NoisyHessian>> hessian(const HessianQuery& query) override;
  Expected<Released<NoisyGradientHessian>> gradient_and_hessian(const JointQuery& query) override;
  Expected<std::unique_ptr<NoisyOperator>> hessian_operator(
      const HessianOperatorQuery& query) override;
  Expected<Released<std::int64_t>> first_decrease(const DecreaseQuery& query) override;
  /// The best vertex; the first of equals.
  Expected<Released<Vertex>> select_vertex(const VertexQuery& query) override;
  Expected<Released<std::int64_t>> select_listed_vertex(const ListedVertexQuery& query) override;
  Expected<Released<NoisyGap>> gap(const GapQuery& query) override;

  /// Per-example gradients evaluated so far, by expected batch sizes (the realized ones are
  /// secret).
  double gradient_evaluations() const { return gradient_evaluations_; }
  /// Rows visited so far for gradients, losses and pairs alike, by expected batch sizes.
  double row_visits() const { return row_visits_; }
  /// What a continued run needs beside the optimizer's state; keys and batches never.
  void archive(Archive& state);

 private:
  /// Remembers the cost of a query that evaluates `gradients` gradients per row; the expected
  /// batch.
  double visit(const Sampling& sampling, int gradients);
  /// The mean gradient with each unit's entries scaled to at most clip_max, plus a public part.
  Vector mean_gradient(const Vector& at, double clip_max, const Vector* public_part);

  const Engine& engine_;
  PublicProblem problem_;
  Batches batches_;
  PerExampleSum sums_;
  std::unique_ptr<CoordinateSums> coordinates_;  ///< made when first needed
  double gradient_evaluations_ = 0;
  double row_visits_ = 0;
  bool clips_;
};

}  // namespace sotto
