#pragma once

#include <memory>

#include "sotto/objective/engine.hpp"
#include "sotto/oracle/api/oracle.hpp"
#include "sotto/oracle/batches.hpp"
#include "sotto/oracle/claims/claims.hpp"
#include "sotto/oracle/coordinate_sums.hpp"
#include "sotto/oracle/per_example_sum.hpp"
#include "sotto/privacy/ledger.hpp"
#include "sotto/random/stream.hpp"
#include "sotto/release/sensitive.hpp"

namespace sotto {

/// Answers queries with noise: charge, draw the batch, clip, sum, add noise, in this order. The
/// batch and its realized size never leave.
class PrivateOracle final : public Oracle {
 public:
  /// `engine` and `ledger` must outlive the oracle. Under zero-out and replace-one problem.n is the
  /// number of the engine's units; under add-remove it is the declared public number.
  PrivateOracle(
      const Engine& engine, PublicProblem problem, Ledger& ledger, Stream sampling, Stream noise);
  PrivateOracle(const PrivateOracle&) = delete;
  PrivateOracle& operator=(const PrivateOracle&) = delete;

  const PublicProblem& problem() const override { return problem_; }
  Expected<Released<Vector>> gradient(const GradientQuery& query) override;
  Expected<Released<Vector>> gradient_pair(const GradientPairQuery& query) override;
  Expected<Released<std::int64_t>> select(const SelectionQuery& query) override;
  Expected<Released<double>> loss(const LossQuery& query) override;
  double gradient_sigma(const GradientQuery& query) const override;

  Expected<Released<NoisyHessian>> hessian(const HessianQuery& query) override;
  Expected<Released<NoisyGradientHessian>> gradient_and_hessian(const JointQuery& query) override;
  Expected<std::unique_ptr<NoisyOperator>> hessian_operator(
      const HessianOperatorQuery& query) override;
  Expected<Released<std::int64_t>> first_decrease(const DecreaseQuery& query) override;
  // vertex_answers.cpp
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
  /// The batches that were really drawn.
  const std::vector<Batches::Drawn>& drawn() const { return batches_.drawn(); }

 private:
  std::int64_t gradient_entries(const GradientQuery& query) const;
  /// Pays for a release that the mechanisms can make; what they can't is refused without a charge.
  Expected<Receipt> buy(const Event& release, std::int64_t samples, const SensitivityClaim& claim);
  /// Remembers the cost of a query that evaluates `gradients` gradients per row.
  void visit(const Sampling& sampling, int gradients);
  /// Noise on a sum, and then the mean.
  Released<Vector> release_mean(Vector sum,
                                const SensitivityClaim& claim,
                                Receipt receipt,
                                double noise_multiplier);
  double expected_batch(const Sampling& sampling) const;
  CoordinateSums& coordinates();

  const Engine& engine_;
  PublicProblem problem_;
  Claims claims_;
  Ledger& ledger_;
  Batches batches_;
  Stream noise_;
  PerExampleSum sums_;
  std::unique_ptr<CoordinateSums> coordinates_;  ///< made when first needed
  double gradient_evaluations_ = 0;
  double row_visits_ = 0;
};

}  // namespace sotto
