#pragma once

#include <memory>

#include "sotto/oracle/api/oracle.hpp"

namespace sotto::testing {

/// Passes every query on: the base of oracles that look at some of them.
class PassingOracle : public Oracle {
 public:
  explicit PassingOracle(Oracle& inner) : inner_(inner) {}

  const PublicProblem& problem() const override { return inner_.problem(); }
  Expected<Released<Vector>> gradient(const GradientQuery& q) override {
    return inner_.gradient(q);
  }
  Expected<Released<Vector>> gradient_pair(const GradientPairQuery& q) override {
    return inner_.gradient_pair(q);
  }
  Expected<Released<std::int64_t>> select(const SelectionQuery& q) override {
    return inner_.select(q);
  }
  Expected<Released<double>> loss(const LossQuery& q) override { return inner_.loss(q); }
  double gradient_sigma(const GradientQuery& q) const override { return inner_.gradient_sigma(q); }
  Expected<Released<NoisyHessian>> hessian(const HessianQuery& q) override {
    return inner_.hessian(q);
  }
  Expected<std::unique_ptr<NoisyOperator>> hessian_operator(
      const HessianOperatorQuery& q) override {
    return inner_.hessian_operator(q);
  }
  Expected<Released<NoisyGap>> gap(const GapQuery& q) override { return inner_.gap(q); }

 protected:
  Oracle& inner_;
};

}  // namespace sotto::testing
