#pragma once

#include "sotto/audit/worlds.hpp"
#include "sotto/oracle/api/oracle.hpp"
#include "sotto/oracle/api/sensitivity.hpp"
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

  double log_likelihood_ratio() const { return log_ratio_; }

 private:
  /// Adds the ratio of an answer that is the mean of terms; rest_, v0_ and v1_ hold their sums.
  void add_ratio(const Vector& answer,
                 const Sampling& sampling,
                 double noise_multiplier,
                 const TermBounds& bounds);

  Oracle& inner_;
  PerExampleSum others_;
  PerExampleSum last0_;
  PerExampleSum last1_;
  Vector rest_, v0_, v1_;
  double log_ratio_ = 0;
};

}  // namespace sotto
