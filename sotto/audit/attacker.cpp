#include "sotto/audit/attacker.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

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

/// Of choosing k with probabilities proportional to the exponentials.
double log_choice(const std::vector<double>& exponents, std::size_t k) {
  const double most = *std::max_element(exponents.begin(), exponents.end());
  double sum = 0;
  for (const double each : exponents) sum += std::exp(each - most);
  return exponents[k] - most - std::log(sum);
}

}  // namespace

Attacker::Attacker(Oracle& inner, const Worlds& worlds)
    : inner_(inner),
      others_(worlds.others()),
      last0_(worlds.last(0)),
      last1_(worlds.last(1)),
      coordinates_(worlds.others()),
      coordinates0_(worlds.last(0)),
      coordinates1_(worlds.last(1)) {}

Expected<Released<Vector>> Attacker::gradient(const GradientQuery& query) {
  const TermBounds bounds = bounds_of(query, problem());
  SOTTO_ASSIGN(Released<Vector> answer, inner_.gradient(query));
  const auto sum_up = [&](PerExampleSum& sums, Vector& sum) {
    if (query.rule == ClipRule::kLayers)
      sums.clipped_layer_gradients({}, query.at, bounds.radius, sum);
    else
      sums.clipped_gradients({}, query.at, bounds.radius, sum);
  };
  sum_up(others_, rest_);
  sum_up(last0_, v0_);
  sum_up(last1_, v1_);
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
  if (query.origin) return inner_.select(query);
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
    const LossQuery loss{candidate, Sampling::full(), query.clip, 0, query.rule};
    const double floor = bounds_of(loss, problem()).floor;
    const auto losses = [&](PerExampleSum& records) {
      return records.clipped_losses({}, candidate, bounds.radius, floor);
    };
    const auto count = static_cast<double>(problem().n);
    double rest = losses(others_) + count * floor;
    if (!query.public_part.empty()) rest += count * query.public_part[k];
    exponents[0][k] = -scale * (rest + losses(last0_));
    exponents[1][k] = -scale * (rest + losses(last1_));
  }
  const auto chosen = static_cast<std::size_t>(answer.value());
  log_ratio_ += log_choice(exponents[1], chosen) - log_choice(exponents[0], chosen);
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

void Attacker::add_ratio(const Vector& answer,
                         const Sampling& sampling,
                         double noise_multiplier,
                         const TermBounds& bounds) {
  add_ratio(
      answer, sampling.rate, noise_multiplier * bounds.sensitivity(problem().relation, sampling));
}

void Attacker::add_ratio(const Vector& answer, double q, double s) {
  rest_ = q * (static_cast<double>(problem().n) * answer - rest_);
  const auto exponent = [&](const Vector& v) {
    return (2 * rest_.dot(v) - v.squaredNorm()) / (2 * s * s);
  };
  log_ratio_ += log_mixture(q, exponent(v1_)) - log_mixture(q, exponent(v0_));
}

Expected<Released<Vertex>> Attacker::select_vertex(const VertexQuery& query) {
  SOTTO_ASSIGN(Released<Vertex> answer, inner_.select_vertex(query));
  if (query.rule != VertexRule::kExponential) return answer;
  coordinates_.compute(query.at, query.clip_max);
  coordinates0_.compute(query.at, query.clip_max);
  coordinates1_.compute(query.at, query.clip_max);
  rest_ = coordinates_.dense(query.clip_max);
  for (const auto& [coordinate, value] : query.public_part)
    rest_[coordinate] += static_cast<double>(problem().n) * value;
  const double factor = query.epsilon / (2 * sum_sensitivity(problem().relation, query.clip_max));
  const bool both_signs = query.set.kind() == SetKind::kL1Ball;
  const Vertex& chosen = answer.value();
  const auto log_probability = [&](const Vector& sums) {
    const double score = factor * (chosen.value > 0 ? -1 : 1) * sums[chosen.coordinate];
    const double top = factor * sums.lpNorm<Eigen::Infinity>();
    double total = 0;
    for (const double s : sums) {
      total += std::exp(-factor * s - top);
      if (both_signs) total += std::exp(factor * s - top);
    }
    return score - top - std::log(total);
  };
  log_ratio_ += log_probability(rest_ + coordinates1_.dense(query.clip_max)) -
                log_probability(rest_ + coordinates0_.dense(query.clip_max));
  return answer;
}

Expected<Released<double>> Attacker::loss(const LossQuery& query) {
  const TermBounds bounds = bounds_of(query, problem());
  SOTTO_ASSIGN(Released<double> answer, inner_.loss(query));
  const auto sum = [&](PerExampleSum& records) -> Vector {
    return Vector::Constant(1, records.clipped_losses({}, query.at, bounds.radius, bounds.floor));
  };
  rest_ = sum(others_);
  v0_ = sum(last0_);
  v1_ = sum(last1_);
  add_ratio(Vector::Constant(1, answer.value() - bounds.floor),
            query.sampling,
            query.noise_multiplier,
            bounds);
  return answer;
}

}  // namespace sotto
