#include "sotto/audit/attacker.hpp"

#include <cmath>

namespace sotto {
namespace {

/// log(1 - q + q e^b).
double log_mixture(double q, double b) {
  return b > 30 ? b + std::log(q + (1 - q) * std::exp(-b)) : std::log1p(q * std::expm1(b));
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

void Attacker::add_ratio(const Vector& answer, double q, double s) {
  rest_ = q * (static_cast<double>(problem().n) * answer - rest_);
  const auto exponent = [&](const Vector& v) {
    return (2 * rest_.dot(v) - v.squaredNorm()) / (2 * s * s);
  };
  log_ratio_ += log_mixture(q, exponent(v1_)) - log_mixture(q, exponent(v0_));
}

Expected<Released<NoisyHessian>> Attacker::hessian(const HessianQuery& query) {
  SOTTO_ASSIGN(Released<NoisyHessian> answer, inner_.hessian(query));
  others_.clipped_hessians({}, query.at, query.clip_radius, rest_matrix_);
  last0_.clipped_hessians({}, query.at, query.clip_radius, matrix0_);
  last1_.clipped_hessians({}, query.at, query.clip_radius, matrix1_);
  const double q = query.sampling.rate;
  const auto n = static_cast<double>(problem().n);
  const double s = answer.value().sigma * q * n;
  const Matrix rest = q * (n * answer.value().value - rest_matrix_);
  // In coordinates where the noise is isotropic, products are those of Frobenius.
  const auto exponent = [&](const Matrix& v) {
    return (2 * rest.cwiseProduct(v).sum() - v.squaredNorm()) / (2 * s * s);
  };
  log_ratio_ += log_mixture(q, exponent(matrix1_)) - log_mixture(q, exponent(matrix0_));
  return answer;
}

Expected<Released<NoisyGradientHessian>> Attacker::gradient_and_hessian(const JointQuery& query) {
  SOTTO_ASSIGN(Released<NoisyGradientHessian> answer, inner_.gradient_and_hessian(query));
  const auto sum = [&](PerExampleSum& sums, Vector& g, Matrix& H) {
    sums.clipped_pairs({}, query.at, query.clip_radius, query.hessian_scale, g, H);
  };
  sum(others_, rest_, rest_matrix_);
  sum(last0_, v0_, matrix0_);
  sum(last1_, v1_, matrix1_);
  const double q = query.sampling.rate;
  const auto n = static_cast<double>(problem().n);
  const double s = answer.value().gradient_sigma * q * n;
  const double t = answer.value().hessian_sigma * q * n;
  rest_ = q * (n * answer.value().gradient - rest_);
  rest_matrix_ = q * (n * answer.value().hessian - rest_matrix_);
  const auto exponent = [&](const Vector& g, const Matrix& H) {
    return (2 * rest_.dot(g) - g.squaredNorm()) / (2 * s * s) +
           (2 * rest_matrix_.cwiseProduct(H).sum() - H.squaredNorm()) / (2 * t * t);
  };
  log_ratio_ +=
      log_mixture(q, exponent(v1_, matrix1_)) - log_mixture(q, exponent(v0_, matrix0_));
  return answer;
}

Expected<Released<double>> Attacker::loss(const LossQuery& query) {
  SOTTO_ASSIGN(Released<double> answer, inner_.loss(query));
  const double q = query.sampling.rate;
  const double s = query.noise_multiplier * query.clip;
  const double r = q * (static_cast<double>(problem().n) * answer.value() -
                        others_.clipped_losses({}, query.at, query.clip));
  const auto exponent = [&](double v) { return (2 * r * v - v * v) / (2 * s * s); };
  log_ratio_ += log_mixture(q, exponent(last1_.clipped_losses({}, query.at, query.clip))) -
                log_mixture(q, exponent(last0_.clipped_losses({}, query.at, query.clip)));
  return answer;
}

}  // namespace sotto
