#include "sotto/oracle/coordinate_sums.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/check.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/oracle/clip_rule.hpp"

namespace sotto {
namespace {

constexpr std::int64_t kBlock = 1024;
constexpr std::int64_t kSmallDimension = 1 << 15;

std::span<const double> span_of(const Vector& v) {
  return {v.data(), static_cast<std::size_t>(v.size())};
}

}  // namespace

/// One thread's memory.
struct CoordinateSums::Scratch {
  std::unique_ptr<Engine::Workspace> workspace;
  std::vector<double> norms;
  std::vector<double> weights;
  std::vector<double> gradient;
  std::vector<std::int64_t> sums;
};

CoordinateSums::CoordinateSums(const Engine& engine) : engine_(engine) {
  SOTTO_CHECK(engine.units() <= kSteps);
}
CoordinateSums::~CoordinateSums() = default;

void CoordinateSums::prepare(std::int64_t tasks) {
  const bool wide = engine_.parameters() > kSmallDimension;
  const auto workers = static_cast<std::size_t>(
      std::clamp<std::int64_t>(tasks, 1, wide ? std::min(thread_count(), 2) : thread_count()));
  while (scratch_.size() < workers) {
    auto fresh = std::make_unique<Scratch>();
    fresh->workspace = engine_.make_workspace();
    fresh->norms.resize(kBlock);
    fresh->weights.resize(kBlock);
    fresh->sums.resize(static_cast<std::size_t>(engine_.parameters()));
    scratch_.push_back(std::move(fresh));
  }
  for (auto& each : scratch_) std::fill(each->sums.begin(), each->sums.end(), 0);
}

void CoordinateSums::add_block(const Block& block, double clip, Scratch& mine) {
  const auto count = static_cast<std::size_t>(block.count);
  const std::span<double> norms(mine.norms.data(), count);
  const std::span<double> weights(mine.weights.data(), count);
  engine_.evaluate_max_norms(
      block, {predictions_.data() + block.begin, count}, *mine.workspace, norms);
  clip_weights(norms, clip, weights);
  if (const auto nulls = engine_.null_units(); !nulls.empty())
    for (std::size_t k = 0; k < count; ++k)
      if (nulls[static_cast<std::size_t>(block.begin) + k] != 0) weights[k] = 0;
  engine_.add_on_grid(
      *mine.workspace, weights, static_cast<double>(kSteps) / clip, kSteps, mine.sums);
}

void CoordinateSums::with_predictions(double clip,
                                      std::span<const VertexPath::Move> pending,
                                      const Vector* w) {
  predictions_.resize(static_cast<std::size_t>(engine_.units()));
  const std::int64_t blocks = (engine_.units() + kBlock - 1) / kBlock;
  prepare(blocks);
  parallel_for(
      blocks,
      [&](std::int64_t k, int worker) {
        Scratch& mine = *scratch_[static_cast<std::size_t>(worker)];
        Block block;
        block.begin = k * kBlock;
        block.count = std::min(kBlock, engine_.units() - block.begin);
        const std::span<double> predictions(predictions_.data() + block.begin,
                                            static_cast<std::size_t>(block.count));
        if (w) engine_.evaluate_predictions(block, span_of(*w), *mine.workspace, predictions);
        for (const auto& [step, vertex] : pending)
          engine_.move_predictions(
              block, 1 - step, vertex.coordinate, step * vertex.value, predictions);
        add_block(block, clip, mine);
      },
      static_cast<int>(scratch_.size()));
}

void CoordinateSums::one_by_one(const Vector& w, double clip) {
  prepare(engine_.units());
  const double scale = static_cast<double>(kSteps) / clip;
  parallel_for(
      engine_.units(),
      [&](std::int64_t unit, int worker) {
        const auto nulls = engine_.null_units();
        if (!nulls.empty() && nulls[static_cast<std::size_t>(unit)] != 0) return;
        Scratch& mine = *scratch_[static_cast<std::size_t>(worker)];
        Block block;
        block.begin = unit;
        block.count = 1;
        double norm = 0;
        engine_.evaluate_gradients(block, span_of(w), *mine.workspace, {&norm, 1});
        if (!std::isfinite(norm)) return;
        mine.gradient.assign(mine.sums.size(), 0.0);
        const double one = 1;
        engine_.add_gradients(*mine.workspace, {&one, 1}, mine.gradient);
        double largest = 0;
        for (const double g : mine.gradient) largest = std::max(largest, std::fabs(g));
        double weight = 0;
        clip_weights({&largest, 1}, clip, {&weight, 1});
        const auto most = static_cast<double>(kSteps);
        for (std::size_t j = 0; j < mine.sums.size(); ++j) {
          const double x = scale * weight * mine.gradient[j];
          if (x == x) mine.sums[j] += std::llrint(std::clamp(x, -most, most));
        }
      },
      static_cast<int>(scratch_.size()));
}

void CoordinateSums::compute(const VertexPath& at, double clip) {
  SOTTO_CHECK(at.dimension() == engine_.parameters() && std::isfinite(clip) && clip > 0);
  if (!engine_.offers().has(Capability::kPredictions)) return one_by_one(at.dense(), clip);
  const auto& moves = at.moves();
  const bool follows = on_path_ && moves.size() >= applied_.size() &&
                       std::equal(applied_.begin(), applied_.end(), moves.begin());
  if (!follows) {
    predictions_.assign(static_cast<std::size_t>(engine_.units()), 0.0);
    applied_.clear();
  }
  // Move by move also where many are pending: a resumed run's predictions are then those of one
  // that was never interrupted, to the last bit.
  with_predictions(clip, std::span(moves).subspan(applied_.size()), nullptr);
  applied_ = moves;
  on_path_ = true;
}

void CoordinateSums::compute(const Vector& at, double clip) {
  SOTTO_CHECK(at.size() == engine_.parameters() && std::isfinite(clip) && clip > 0);
  if (!engine_.offers().has(Capability::kPredictions)) return one_by_one(at, clip);
  with_predictions(clip, {}, &at);
  on_path_ = false;
}

void CoordinateSums::add_public(std::span<const std::pair<std::int64_t, double>> entries,
                                double n,
                                double clip) {
  constexpr double kMost = 0x1p61;
  auto& sums = scratch_.front()->sums;
  for (const auto& [coordinate, value] : entries) {
    const double x = n * value * static_cast<double>(kSteps) / clip;
    if (x == x)
      sums[static_cast<std::size_t>(coordinate)] += std::llrint(std::clamp(x, -kMost, kMost));
  }
}

std::vector<std::span<const std::int64_t>> CoordinateSums::parts() const {
  std::vector<std::span<const std::int64_t>> result;
  for (const auto& each : scratch_) result.emplace_back(each->sums);
  return result;
}

Vector CoordinateSums::dense(double clip) const {
  Vector sum(engine_.parameters());
  for (Eigen::Index j = 0; j < sum.size(); ++j) {
    std::int64_t total = 0;
    for (const auto& each : scratch_) total += each->sums[static_cast<std::size_t>(j)];
    sum[j] = static_cast<double>(total) * (clip / static_cast<double>(kSteps));
  }
  return sum;
}

}  // namespace sotto
