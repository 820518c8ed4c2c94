#include "sotto/oracle/exact_oracle.hpp"

#include <algorithm>
#include <utility>

#include "sotto/core/numbers.hpp"
#include "sotto/oracle/exact_release.hpp"

namespace sotto {
ExactOracle::ExactOracle(const Engine& engine, PublicProblem problem, Stream sampling, bool clips)
    : engine_(engine),
      problem_(std::move(problem)),
      batches_(engine.units(), sum_shape(problem_), std::move(sampling)),
      sums_(engine, sum_shape(problem_)),
      clips_(clips) {}

double ExactOracle::visit(const Sampling& sampling, int gradients) {
  const double expected_batch = sampling.rate * static_cast<double>(problem_.n);
  gradient_evaluations_ += gradients * expected_batch;
  row_visits_ += expected_batch;
  return expected_batch;
}

Expected<Released<Vector>> ExactOracle::gradient(const GradientQuery& query) {
  const double radius = clips_ ? query.clip_radius : kInfinity;
  Vector sum;
  const auto batch = batches_.draw(query.sampling);
  if (clips_ && query.rule == ClipRule::kLayers)
    sums_.clipped_layer_gradients(batch, query.at, radius, sum);
  else
    sums_.clipped_gradients(batch, query.at, radius, sum);
  if (query.count_share > 0) {
    sum.conservativeResize(problem_.dimension + 1);
    sum[problem_.dimension] = static_cast<double>(sums_.unclipped_less_clipped()) / 2;
  }
  sum /= visit(query.sampling, 1);
  return ExactRelease::release(std::move(sum), problem_.relation);
}

Expected<Released<Vector>> ExactOracle::gradient_pair(const GradientPairQuery& query) {
  const PairClip clip =
      clips_ ? query.clip : PairClip{query.clip.mixture, kInfinity, kInfinity, false};
  Vector sum;
  sums_.clipped_gradient_pairs(batches_.draw(query.sampling), query.at, query.before, clip, sum);
  sum /= visit(query.sampling, 2);
  return ExactRelease::release(std::move(sum), problem_.relation);
}

Expected<Released<std::int64_t>> ExactOracle::select(const SelectionQuery& query) {
  const double clip = clips_ ? query.clip : kInfinity;
  std::int64_t best = 0;
  double least = kInfinity;
  for (std::size_t k = 0; k < query.candidates.size(); ++k) {
    double loss = query.origin
                      ? sums_.clipped_differences({}, query.candidates[k], *query.origin, clip)
                      : sums_.clipped_losses({}, query.candidates[k], clip);
    if (!query.public_part.empty()) loss += static_cast<double>(problem_.n) * query.public_part[k];
    visit(Sampling::full(), 0);
    if (loss < least) best = static_cast<std::int64_t>(k);
    least = std::min(least, loss);
  }
  return ExactRelease::release(best, problem_.relation);
}

Expected<Released<double>> ExactOracle::loss(const LossQuery& query) {
  const double clip = clips_ ? query.clip : kInfinity;
  const double sum = sums_.clipped_losses(batches_.draw(query.sampling), query.at, clip);
  return ExactRelease::release(sum / visit(query.sampling, 0), problem_.relation);
}

Vector ExactOracle::mean_gradient(const Vector& at, double clip_max, const Vector* public_part) {
  Vector sum;
  if (clips_) {
    if (!coordinates_) coordinates_ = std::make_unique<CoordinateSums>(engine_);
    coordinates_->compute(at, clip_max);
    sum = coordinates_->dense(clip_max);
  } else {
    sums_.clipped_gradients({}, at, kInfinity, sum);
  }
  sum /= visit(Sampling::full(), 1);
  if (public_part) sum += *public_part;
  return sum;
}

Expected<Released<Vertex>> ExactOracle::select_vertex(const VertexQuery& query) {
  Vector gradient = mean_gradient(query.at.dense(), query.clip_max, nullptr);
  for (const auto& [coordinate, value] : query.public_part) gradient[coordinate] += value;
  Vector vertex;
  query.set.minimize_linear(gradient, vertex);
  Eigen::Index best = 0;
  vertex.cwiseAbs().maxCoeff(&best);
  return ExactRelease::release(Vertex{best, vertex[best]}, problem_.relation);
}

Expected<Released<std::int64_t>> ExactOracle::select_listed_vertex(const ListedVertexQuery& query) {
  const Vector gradient = mean_gradient(query.at, query.clip_max, query.public_part);
  Eigen::Index best = 0;
  (query.vertices * gradient).minCoeff(&best);
  return ExactRelease::release(static_cast<std::int64_t>(best), problem_.relation);
}

Expected<Released<NoisyGap>> ExactOracle::gap(const GapQuery& query) {
  Vector gradient;
  if (query.in_max_norm) {
    gradient = mean_gradient(query.at, query.clip, query.public_part);
  } else {
    sums_.clipped_gradients({}, query.at, clips_ ? query.clip : kInfinity, gradient);
    gradient /= visit(Sampling::full(), 1);
    if (query.public_part) gradient += *query.public_part;
  }
  return ExactRelease::release(NoisyGap{query.set.gap(query.at, gradient), 0}, problem_.relation);
}

void ExactOracle::archive(Archive& state) {
  state("evaluations", gradient_evaluations_, 0, kInfinity)("visits", row_visits_, 0, kInfinity)(
      "batches", batches_);
}

}  // namespace sotto
