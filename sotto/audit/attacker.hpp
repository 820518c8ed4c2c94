#pragma once

#include "sotto/audit/worlds.hpp"
#include "sotto/oracle/api/oracle.hpp"
#include "sotto/oracle/api/sensitivity.hpp"
#include "sotto/oracle/coordinate_sums.hpp"
#include "sotto/oracle/per_example_sum.hpp"

namespace sotto {

/// Stands between an optimizer and the oracle and sees every answer, as anybody may. It knows all
/// records but not whether the last one is world 1's or world 0's, and adds up the logarithm of the
/// answers' likelihood ratio: for one release of a clipped sum with noise of standard deviation s,
/// where the last record is in the batch with probability q and would contribute v_k in world k,
///   log((1-q) + q exp((2 <r, v_1> - |v_1|^2) / 2s^2)) - the same with v_0,
/// r being the sum less what the other records contribute on average. With full batches, or with a
/// canary that is alone in its direction, no test is better. A selection adds the ratio of the
/// chosen candidate's probabilities.
class Attacker final : public Oracle {
 public:
  Attacker(Oracle& inner, const Worlds& worlds);

  const PublicProblem& problem() const override { return inner_.problem(); }
  Expected<Released<Vector>> gradient(const GradientQuery& query) override;
  Expected<Released<Vector>> gradient_pair(const GradientPairQuery& query) override;
  Expected<Released<std::int64_t>> select(const SelectionQuery& query) override;
  Expected<Released<double>> loss(const LossQuery& query) override;
  double gradient_sigma(const GradientQuery& query) const override {
    return inner_.gradient_sigma(query);
  }
  Expected<Released<NoisyHessian>> hessian(const HessianQuery& query) override;
  Expected<Released<NoisyGradientHessian>> gradient_and_hessian(const JointQuery& query) override;
  /// Operators and line searches are passed on; what they tell is not used.
  Expected<std::unique_ptr<NoisyOperator>> hessian_operator(
      const HessianOperatorQuery& query) override {
    return inner_.hessian_operator(query);
  }
  Expected<Released<std::int64_t>> first_decrease(const DecreaseQuery& query) override {
    return inner_.first_decrease(query);
  }
  /// The exponential mechanism's ratio is known exactly; other rules are passed on.
  Expected<Released<Vertex>> select_vertex(const VertexQuery& query) override;
  Expected<Released<std::int64_t>> select_listed_vertex(const ListedVertexQuery& query) override {
    return inner_.select_listed_vertex(query);
  }
  Expected<Released<NoisyGap>> gap(const GapQuery& query) override { return inner_.gap(query); }

  double log_likelihood_ratio() const { return log_ratio_; }

 private:
  /// Adds the ratio of an answer that is the mean of terms; rest_, v0_ and v1_ hold their sums.
  void add_ratio(const Vector& answer,
                 const Sampling& sampling,
                 double noise_multiplier,
                 const TermBounds& bounds);
  /// The same for a noise of deviation s on the sum, at sampling rate q.
  void add_ratio(const Vector& answer, double q, double s);

  Oracle& inner_;
  PerExampleSum others_;
  PerExampleSum last0_;
  PerExampleSum last1_;
  CoordinateSums coordinates_;
  CoordinateSums coordinates0_;
  CoordinateSums coordinates1_;
  Vector rest_, v0_, v1_;
  double log_ratio_ = 0;
};

}  // namespace sotto
