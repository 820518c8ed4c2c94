#include "sotto/audit/attacker.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace sotto {
namespace {

/// log(1 - q + q e^b).
double log_mixture(double q, double b) {
  return b > 30 ? b + std::log(q + (1 - q) * std::exp(-b)) : std::log1p(q * std::expm1(b));
}

/// Of choosing k with probabilities proportional to the exponentials.
double log_probability(const std::vector<double>& exponents, std::size_t k) {
  const double most = *std::max_element(exponents.begin(), exponents.end());
  double sum = 0;
  for (const double each : exponents) sum += std::exp(each - most);
  return exponents[k] - most - std::log(sum);
}

}  // namespace

Attacker::Attacker(Oracle& inner, const Worlds& worlds)
    : inner_(inner), others_(worlds.others()), last0_(worlds.last(0)), last1_(worlds.last(1)) {}

Expected<Released<Vector>> Attacker::gradient(const GradientQuery& query) {
  const TermBounds bounds = bounds_of(query, problem());
  SOTTO_ASSIGN(Released<Vector> answer, inner_.gradient(query));
  others_.clipped_gradients({}, query.at, bounds.radius, rest_);
  last0_.clipped_gradients({}, query.at, bounds.radius, v0_);
  last1_.clipped_gradients({}, query.at, bounds.radius, v1_);
  add_ratio(answer.value(), query.sampling, query.noise_multiplier, bounds);
  return answer;
}

Expected<Released<Vector>> Attacker::gradient_pair(const GradientPairQuery& query) {
  const PairBounds bounds = bounds_of(query, problem());
  SOTTO_ASSIGN(Released<Vector> answer, inner_.gradient_pair(query));
  others_.clipped_gradient_pairs({}, query.at, query.before, bounds.clip, rest_);
  last0_.clipped_gradient_pairs({}, query.at, query.before, bounds.clip, v0_);
  last1_.clipped_gradient_pairs({}, query.at, query.before, bounds.clip, v1_);
  add_ratio(answer.value(), query.sampling, query.noise_multiplier, bounds);
  return answer;
}

Expected<Released<std::int64_t>> Attacker::select(const SelectionQuery& query) {
  const TermBounds bounds = bounds_of(query, problem());
  SOTTO_ASSIGN(Released<std::int64_t> answer, inner_.select(query));
  const bool any = problem().relation == Relation::kReplaceOne;
  const double scale =
      query.epsilon / ((any ? 2 : 1) * bounds.sensitivity(problem().relation, Sampling::full()));
  // Each candidate's exponent, and where the last record moves it in each world.
  const auto n = static_cast<std::size_t>(std::ssize(query.candidates));
  std::vector<double> exponents[2] = {std::vector<double>(n), std::vector<double>(n)};
  for (std::size_t k = 0; k < n; ++k) {
    const Vector& candidate = query.candidates[k];
    double rest = others_.clipped_losses({}, candidate, bounds.radius);
    if (!query.public_part.empty()) rest += static_cast<double>(problem().n) * query.public_part[k];
    exponents[0][k] = -scale * (rest + last0_.clipped_losses({}, candidate, bounds.radius));
    exponents[1][k] = -scale * (rest + last1_.clipped_losses({}, candidate, bounds.radius));
  }
  const auto chosen = static_cast<std::size_t>(answer.value());
  log_ratio_ += log_probability(exponents[1], chosen) - log_probability(exponents[0], chosen);
  return answer;
}

void Attacker::add_ratio(const Vector& answer,
                         const Sampling& sampling,
                         double noise_multiplier,
                         const TermBounds& bounds) {
  const double q = sampling.rate;
  const double s = noise_multiplier * bounds.sensitivity(problem().relation, sampling);
  rest_ = q * (static_cast<double>(problem().n) * answer - rest_);
  const auto exponent = [&](const Vector& v) {
    return (2 * rest_.dot(v) - v.squaredNorm()) / (2 * s * s);
  };
  log_ratio_ += log_mixture(q, exponent(v1_)) - log_mixture(q, exponent(v0_));
}

Expected<Released<double>> Attacker::loss(const LossQuery& query) {
  const TermBounds bounds = bounds_of(query, problem());
  SOTTO_ASSIGN(Released<double> answer, inner_.loss(query));
  const auto sum = [&](PerExampleSum& records) -> Vector {
    return Vector::Constant(1, records.clipped_losses({}, query.at, bounds.radius));
  };
  rest_ = sum(others_);
  v0_ = sum(last0_);
  v1_ = sum(last1_);
  add_ratio(Vector::Constant(1, answer.value()), query.sampling, query.noise_multiplier, bounds);
  return answer;
}

}  // namespace sotto
