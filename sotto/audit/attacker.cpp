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
