#include "sotto/audit/attacker.hpp"

#include <cmath>
#include <numbers>

namespace sotto {
namespace {

/// log(1 - q + q e^b).
double log_mixture(double q, double b) {
  return b > 30 ? b + std::log(q + (1 - q) * std::exp(-b)) : std::log1p(q * std::expm1(b));
}

/// A gradient and a symmetric matrix as one vector in which a joint release's noise is the same
/// everywhere.
Vector coordinates(const Vector& gradient, const Matrix& hessian, double hessian_scale) {
  const Eigen::Index d = hessian.rows();
  Vector all(gradient.size() + d * (d + 1) / 2);
  all.head(gradient.size()) = gradient;
  Eigen::Index k = gradient.size();
  for (Eigen::Index i = 0; i < d; ++i)
    for (Eigen::Index j = 0; j <= i; ++j)
      all[k++] = hessian(i, j) * (i == j ? 1 : std::numbers::sqrt2) / hessian_scale;
  return all;
}

}  // namespace

Attacker::Attacker(Oracle& inner, const Worlds& worlds)
    : inner_(inner), others_(worlds.others()), last0_(worlds.last(0)), last1_(worlds.last(1)) {}

Expected<Released<Vector>> Attacker::gradient(const GradientQuery& query) {
  SOTTO_ASSIGN(Released<Vector> answer, inner_.gradient(query));
  others_.clipped_gradients({}, query.at, query.clip_radius, rest_);
  last0_.clipped_gradients({}, query.at, query.clip_radius, v0_);
  last1_.clipped_gradients({}, query.at, query.clip_radius, v1_);
  add_ratio(answer.value(),
            query.sampling.rate,
            query.noise_multiplier * sum_sensitivity(problem().relation, query.clip_radius));
  return answer;
}

Expected<Released<Vector>> Attacker::gradient_pair(const GradientPairQuery& query) {
  SOTTO_ASSIGN(Released<Vector> answer, inner_.gradient_pair(query));
  others_.clipped_gradient_pairs({}, query.at, query.before, query.clip, rest_);
  last0_.clipped_gradient_pairs({}, query.at, query.before, query.clip, v0_);
  last1_.clipped_gradient_pairs({}, query.at, query.before, query.clip, v1_);
  add_ratio(answer.value(),
            query.sampling.rate,
            query.noise_multiplier * sum_sensitivity(problem().relation, query.clip.reach()));
  return answer;
}

Expected<Released<NoisyHessian>> Attacker::hessian(const HessianQuery& query) {
  SOTTO_ASSIGN(Released<NoisyHessian> answer, inner_.hessian(query));
  const auto sum = [&](PerExampleSum& sums) {
    Matrix H;
    sums.clipped_hessians({}, query.at, query.clip_radius, H);
    return coordinates({}, H, 1);
  };
  rest_ = sum(others_);
  v0_ = sum(last0_);
  v1_ = sum(last1_);
  add_ratio(coordinates({}, answer.value().value, 1),
            query.sampling.rate,
            answer.value().sigma * query.sampling.rate * static_cast<double>(problem().n));
  return answer;
}

Expected<Released<NoisyGradientHessian>> Attacker::gradient_and_hessian(const JointQuery& query) {
  SOTTO_ASSIGN(Released<NoisyGradientHessian> answer, inner_.gradient_and_hessian(query));
  const auto sum = [&](PerExampleSum& sums) {
    Vector g;
    Matrix H;
    sums.clipped_pairs({}, query.at, query.clip_radius, query.hessian_scale, g, H);
    return coordinates(g, H, query.hessian_scale);
  };
  rest_ = sum(others_);
  v0_ = sum(last0_);
  v1_ = sum(last1_);
  const NoisyGradientHessian& value = answer.value();
  add_ratio(coordinates(value.gradient, value.hessian, query.hessian_scale),
            query.sampling.rate,
            value.gradient_sigma * query.sampling.rate * static_cast<double>(problem().n));
  return answer;
}

void Attacker::add_ratio(const Vector& answer, double q, double s) {
  rest_ = q * (static_cast<double>(problem().n) * answer - rest_);
  const auto exponent = [&](const Vector& v) {
    return (2 * rest_.dot(v) - v.squaredNorm()) / (2 * s * s);
  };
  log_ratio_ += log_mixture(q, exponent(v1_)) - log_mixture(q, exponent(v0_));
}

Expected<Released<double>> Attacker::loss(const LossQuery& query) {
  SOTTO_ASSIGN(Released<double> answer, inner_.loss(query));
  const double q = query.sampling.rate;
  // Losses have one sign, so that a replaced one moves the sum by no more than the clip; but see
  // clip_rule.proof.md about Poisson batches.
  const bool twice = problem().relation == Relation::kReplaceOne &&
                     query.sampling.kind == Sampling::Kind::kPoisson;
  const double s = query.noise_multiplier * query.clip * (twice ? 2 : 1);
  const double r = q * (static_cast<double>(problem().n) * answer.value() -
                        others_.clipped_losses({}, query.at, query.clip));
  const auto exponent = [&](double v) { return (2 * r * v - v * v) / (2 * s * s); };
  log_ratio_ += log_mixture(q, exponent(last1_.clipped_losses({}, query.at, query.clip))) -
                log_mixture(q, exponent(last0_.clipped_losses({}, query.at, query.clip)));
  return answer;
}

}  // namespace sotto
