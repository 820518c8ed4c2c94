#include "sotto/oracle/per_example_sum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sotto/core/check.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/core/processor.hpp"
#include "sotto/oracle/clip_rule.hpp"
#include "sotto/oracle/per_example_scratch.hpp"

namespace sotto {
PerExampleSum::PerExampleSum(const Engine& engine) : engine_(engine) {}
PerExampleSum::~PerExampleSum() = default;

PerExampleSum::Scratch& PerExampleSum::scratch(int worker) {
  Scratch& mine = *scratch_[static_cast<std::size_t>(worker)];
  if (!mine.touched) {
    if (!mine.narrow) std::fill(mine.total.begin(), mine.total.end(), Int128{0});
    mine.empty = true;
    mine.balance = 0;
    mine.touched = true;
  }
  return mine;
}

const SumGridKernels& sum_grid_kernels() {
  static const SumGridKernels chosen = [] {
#ifdef SOTTO_HAS_X86_64_V3
    if (runs_x86_64_v3())
      return SumGridKernels{internal::x86_64_v3::to_sum_grid, internal::x86_64_v3::from_sum_grid};
#endif
    return SumGridKernels{};
  }();
  return chosen;
}

std::int64_t PerExampleSum::units_in(const Batch& batch) const {
  return batch.all ? engine_.units() : static_cast<std::int64_t>(batch.indices.size());
}

bool PerExampleSum::is_narrow(const Batch& batch, double radius) const {
  return std::isfinite(radius) && units_in(batch) <= kNarrowUnits;
}

void PerExampleSum::prepare(int workers, double scale, bool narrow) {
  scale_ = scale;
  while (static_cast<int>(scratch_.size()) < workers) {
    auto fresh = std::make_unique<Scratch>();
    const auto block = static_cast<std::size_t>(engine_.block_size());
    const auto dimension = static_cast<std::size_t>(engine_.parameters());
    fresh->workspace = engine_.make_workspace();
    fresh->norms.resize(block);
    fresh->weights.resize(block);
    fresh->more_weights.resize(block);
    fresh->block_sum.resize(dimension);
    fresh->total.resize(std::max<std::size_t>(dimension, 1));
    scratch_.push_back(std::move(fresh));
  }
  for (auto& each : scratch_) {
    each->touched = false;
    each->narrow = narrow;
    if (narrow) each->narrow_total.resize(each->block_sum.size());
  }
}

void PerExampleSum::clipped_gradients(const Batch& batch,
                                      const Vector& w,
                                      double radius,
                                      Vector& sum) {
  SOTTO_CHECK(w.size() == engine_.parameters());
  prepare(thread_count(), sum_grid_scale(radius), is_narrow(batch, radius));
  const std::span<const double> point(w.data(), static_cast<std::size_t>(w.size()));
  for_each_block(batch, [&](const Block& block, Scratch& mine, bool) {
    const auto count = static_cast<std::size_t>(block.count);
    const std::span<double> norms(mine.norms.data(), count);
    const std::span<double> weights(mine.weights.data(), count);
    engine_.evaluate_gradients(block, point, *mine.workspace, norms);
    clip_weights(norms, radius, weights);
    mine.count(norms, radius);
    engine_.add_gradients(*mine.workspace, weights, mine.block_sum);
    mine.add_block_sum(scale_);
  });
  collect(sum);
}

void PerExampleSum::clipped_layer_gradients(const Batch& batch,
                                            const Vector& w,
                                            double radius,
                                            Vector& sum) {
  SOTTO_CHECK(w.size() == engine_.parameters());
  prepare(thread_count(), sum_grid_scale(radius), is_narrow(batch, radius));
  const auto layers = static_cast<std::size_t>(engine_.layers());
  // Rounded down, so that the layers together stay within the radius.
  const double share = radius / std::sqrt(static_cast<double>(layers)) * (1 - 0x1p-50);
  for_each_block(batch, [&](const Block& block, Scratch& mine, bool) {
    const auto count = static_cast<std::size_t>(block.count);
    if (mine.weights.size() < count * layers) {
      mine.weights.resize(static_cast<std::size_t>(engine_.block_size()) * layers);
      mine.more_weights.resize(mine.weights.size());
    }
    const std::span<double> norms(mine.norms.data(), count);
    const std::span<double> layer_norms(mine.more_weights.data(), count * layers);
    const std::span<double> weights(mine.weights.data(), count * layers);
    engine_.evaluate_gradients(block, as_span(w), *mine.workspace, norms);
    mine.count(norms, radius);
    engine_.layer_norms(*mine.workspace, layer_norms);
    clip_weights(layer_norms, share, weights);
    engine_.add_layer_gradients(*mine.workspace, weights, mine.block_sum);
    mine.add_block_sum(scale_);
  });
  collect(sum);
}

std::int64_t PerExampleSum::unclipped_less_clipped() const {
  std::int64_t balance = 0;
  for (const auto& each : scratch_)
    if (each->touched) balance += each->balance;
  return balance;
}

void PerExampleSum::clipped_gradient_pairs(
    const Batch& batch, const Vector& w, const Vector& before, const PairClip& clip, Vector& sum) {
  SOTTO_CHECK(w.size() == engine_.parameters() && before.size() == w.size());
  SOTTO_CHECK(clip.mixture >= 0 && clip.mixture <= 1);
  prepare(thread_count(), sum_grid_scale(clip.reach()), is_narrow(batch, clip.reach()));
  const auto span_of = [](const Vector& v) {
    return std::span<const double>(v.data(), static_cast<std::size_t>(v.size()));
  };
  for_each_block(batch, [&](const Block& block, Scratch& mine, bool) {
    const auto count = static_cast<std::size_t>(block.count);
    const std::span<double> norms(mine.norms.data(), count);
    const std::span<double> gradient(mine.weights.data(), count);
    const std::span<double> difference(mine.more_weights.data(), count);
    engine_.evaluate_gradient_pairs(block, span_of(w), span_of(before), *mine.workspace);
    if (clip.together) {
      engine_.pair_norms(*mine.workspace, clip.mixture, 1 - clip.mixture, norms);
      clip_weights(norms, clip.reach(), gradient);
      std::copy(gradient.begin(), gradient.end(), difference.begin());
    } else {
      const auto weigh = [&](double a, double b, double radius, std::span<double> weights) {
        if (clip.mixture * a + (1 - clip.mixture) * b == 0) {
          std::fill(weights.begin(), weights.end(), 0.0);
          return;
        }
        engine_.pair_norms(*mine.workspace, a, b, norms);
        clip_weights(norms, radius, weights);
      };
      weigh(1, 0, clip.radius, gradient);
      weigh(0, 1, clip.difference_radius, difference);
    }
    for (double& weight : gradient) weight *= clip.mixture;
    for (double& weight : difference) weight *= 1 - clip.mixture;
    engine_.add_gradient_pairs(*mine.workspace, gradient, difference, mine.block_sum);
    mine.add_block_sum(scale_);
  });
  collect(sum);
}

double PerExampleSum::clipped_losses(const Batch& batch, const Vector& w, double clip) {
  return sum_values(batch, w, nullptr, clip);
}

double PerExampleSum::clipped_differences(const Batch& batch,
                                          const Vector& w,
                                          const Vector& origin,
                                          double clip) {
  return sum_values(batch, w, &origin, clip);
}

double PerExampleSum::sum_values(const Batch& batch,
                                 const Vector& w,
                                 const Vector* origin,
                                 double clip) {
  SOTTO_CHECK(w.size() == engine_.parameters() && clip > 0);
  prepare(thread_count(), sum_grid_scale(clip));
  for_each_block(batch, [&](const Block& block, Scratch& mine, bool) {
    const auto count = static_cast<std::size_t>(block.count);
    const std::span<double> losses(mine.norms.data(), count);
    const std::span<double> before(mine.weights.data(), count);
    engine_.evaluate_losses(block, as_span(w), *mine.workspace, losses);
    if (origin) {
      engine_.evaluate_losses(block, as_span(*origin), *mine.workspace, before);
      for (std::size_t k = 0; k < count; ++k) losses[k] -= before[k];
    }
    const double least = origin ? -clip : 0;
    double block_sum = 0;
    for (const double loss : losses)
      block_sum += std::isfinite(loss) ? std::clamp(loss, least, clip) : 0.0;
    mine.total[0] += to_sum_grid(block_sum, scale_);
  });
  Int128 total = 0;
  for (const auto& each : scratch_)
    if (each->touched) total += each->total[0];
  return static_cast<double>(total) / scale_;
}

void PerExampleSum::collect(Vector& sum) const {
  sum.resize(engine_.parameters());
  if (!scratch_.empty() && scratch_.front()->narrow) {
    std::vector<const std::int64_t*> totals;
    for (const auto& each : scratch_)
      if (each->touched) totals.push_back(each->narrow_total.data());
    sum_grid_kernels().from(
        totals.data(), totals.size(), 1 / scale_, static_cast<std::size_t>(sum.size()), sum.data());
    return;
  }
  for (Eigen::Index j = 0; j < sum.size(); ++j) {
    Int128 total = 0;
    for (const auto& each : scratch_)
      if (each->touched) total += each->total[static_cast<std::size_t>(j)];
    sum[j] = static_cast<double>(total) / scale_;
  }
}

double PerExampleSum::rounding_error(std::int64_t n, double radius) const {
  return rounding_error(n, radius, engine_.block_size(), engine_.parameters());
}

double PerExampleSum::rounding_error(std::int64_t n,
                                     double radius,
                                     std::int64_t block,
                                     std::int64_t entries) {
  constexpr double u = std::numeric_limits<double>::epsilon() / 2;
  const auto size = static_cast<double>(block);
  const auto count = static_cast<double>(n);
  const double blocks = std::floor(count / size) + static_cast<double>(kLeastBlocks);
  const double d = std::sqrt(static_cast<double>(entries));
  const double gamma = (size + 2) * u / (1 - (size + 2) * u);
  const double in_blocks = gamma * count * radius;
  const double on_grid = blocks * d * 0.5 / sum_grid_scale(radius);
  const double back_to_double = u * (count * radius + in_blocks + on_grid);
  return in_blocks + on_grid + back_to_double;
}

}  // namespace sotto
