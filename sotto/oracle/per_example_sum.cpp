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

PerExampleSum::PerExampleSum(const Engine& engine)
    : PerExampleSum(engine, {engine.parameters(), false}) {}
PerExampleSum::PerExampleSum(const Engine& engine, const SumShape& shape)
    : engine_(engine), shape_(shape) {
  SOTTO_CHECK(shape.dimension == engine.parameters());
}
PerExampleSum::~PerExampleSum() = default;

PerExampleSum::Scratch& PerExampleSum::scratch(int worker) {
  Scratch& mine = *scratch_[static_cast<std::size_t>(worker)];
  if (!mine.touched) {
    mine.wide = false;
    mine.narrow_units = 0;
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

void PerExampleSum::silence_nulls(const Block& block,
                                  std::span<double> numbers,
                                  std::size_t per_unit) const {
  const std::span<const std::uint8_t> nulls = engine_.null_units();
  if (nulls.empty()) return;
  for (std::int64_t k = 0; k < block.count; ++k)
    if (nulls[static_cast<std::size_t>(block[k])] != 0)
      std::fill_n(numbers.data() + static_cast<std::size_t>(k) * per_unit,
                  per_unit,
                  std::numeric_limits<double>::quiet_NaN());
}

void PerExampleSum::prepare(int workers, double scale) {
  scale_ = scale;
  while (static_cast<int>(scratch_.size()) < workers) {
    auto fresh = std::make_unique<Scratch>();
    const auto block = static_cast<std::size_t>(engine_.block_size());
    const auto dimension = static_cast<std::size_t>(engine_.parameters());
    fresh->workspace = engine_.make_workspace();
    fresh->norms.resize(block);
    fresh->weights.resize(block);
    fresh->more_weights.resize(block);
    fresh->piece_sum.resize(dimension);
    fresh->total.resize(std::max<std::size_t>(dimension, 1));
    scratch_.push_back(std::move(fresh));
  }
  for (auto& each : scratch_) each->touched = false;
}

void PerExampleSum::clipped_gradients(const Batch& batch,
                                      const Vector& w,
                                      double radius,
                                      Vector& sum) {
  SOTTO_CHECK(w.size() == engine_.parameters());
  const auto add_block = [&](const Block& block, Scratch& mine) {
    const auto count = static_cast<std::size_t>(block.count);
    const std::span<double> norms(mine.norms.data(), count);
    const std::span<double> weights(mine.weights.data(), count);
    engine_.evaluate_gradients(block, as_span(w), *mine.workspace, norms);
    silence_nulls(block, norms);
    clip_weights(norms, radius, weights);
    mine.count(norms, radius);
    engine_.add_gradients(*mine.workspace, weights, mine.piece_sum);
  };
  sum_vectors(batch, radius, add_block, sum);
}

void PerExampleSum::clipped_layer_gradients(const Batch& batch,
                                            const Vector& w,
                                            double radius,
                                            Vector& sum) {
  SOTTO_CHECK(w.size() == engine_.parameters());
  const auto layers = static_cast<std::size_t>(engine_.layers());
  // Rounded down, so that the layers together stay within the radius.
  const double share = radius / std::sqrt(static_cast<double>(layers)) * (1 - 0x1p-50);
  const auto add_block = [&](const Block& block, Scratch& mine) {
    const auto count = static_cast<std::size_t>(block.count);
    if (mine.weights.size() < count * layers) {
      mine.weights.resize(static_cast<std::size_t>(engine_.block_size()) * layers);
      mine.more_weights.resize(mine.weights.size());
    }
    const std::span<double> norms(mine.norms.data(), count);
    const std::span<double> layer_norms(mine.more_weights.data(), count * layers);
    const std::span<double> weights(mine.weights.data(), count * layers);
    engine_.evaluate_gradients(block, as_span(w), *mine.workspace, norms);
    silence_nulls(block, norms);
    mine.count(norms, radius);
    engine_.layer_norms(*mine.workspace, layer_norms);
    silence_nulls(block, layer_norms, layers);
    clip_weights(layer_norms, share, weights);
    engine_.add_layer_gradients(*mine.workspace, weights, mine.piece_sum);
  };
  sum_vectors(batch, radius, add_block, sum);
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
  const auto add_block = [&](const Block& block, Scratch& mine) {
    const auto count = static_cast<std::size_t>(block.count);
    const std::span<double> norms(mine.norms.data(), count);
    const std::span<double> gradient(mine.weights.data(), count);
    const std::span<double> difference(mine.more_weights.data(), count);
    engine_.evaluate_gradient_pairs(block, as_span(w), as_span(before), *mine.workspace);
    if (clip.together) {
      engine_.pair_norms(*mine.workspace, clip.mixture, 1 - clip.mixture, norms);
      silence_nulls(block, norms);
      clip_weights(norms, clip.reach(), gradient);
      std::copy(gradient.begin(), gradient.end(), difference.begin());
    } else {
      const auto weigh = [&](double a, double b, double radius, std::span<double> weights) {
        if (clip.mixture * a + (1 - clip.mixture) * b == 0) {
          std::fill(weights.begin(), weights.end(), 0.0);
          return;
        }
        engine_.pair_norms(*mine.workspace, a, b, norms);
        silence_nulls(block, norms);
        clip_weights(norms, radius, weights);
      };
      weigh(1, 0, clip.radius, gradient);
      weigh(0, 1, clip.difference_radius, difference);
    }
    for (double& weight : gradient) weight *= clip.mixture;
    for (double& weight : difference) weight *= 1 - clip.mixture;
    engine_.add_gradient_pairs(*mine.workspace, gradient, difference, mine.piece_sum);
  };
  sum_vectors(batch, clip.reach(), add_block, sum);
}

double PerExampleSum::clipped_losses(const Batch& batch,
                                     const Vector& w,
                                     double clip,
                                     double floor) {
  return sum_values(batch, w, nullptr, clip, floor);
}

double PerExampleSum::clipped_differences(const Batch& batch,
                                          const Vector& w,
                                          const Vector& origin,
                                          double clip) {
  return sum_values(batch, w, &origin, clip, 0);
}

double PerExampleSum::sum_values(
    const Batch& batch, const Vector& w, const Vector* origin, double clip, double floor) {
  SOTTO_CHECK(w.size() == engine_.parameters() && clip > 0);
  prepare(thread_count(), sum_grid_scale(clip));
  const auto add_block = [&](const Block& block, Scratch& mine) {
    const auto count = static_cast<std::size_t>(block.count);
    const std::span<double> losses(mine.norms.data(), count);
    const std::span<double> before(mine.weights.data(), count);
    engine_.evaluate_losses(block, as_span(w), *mine.workspace, losses);
    if (origin) {
      engine_.evaluate_losses(block, as_span(*origin), *mine.workspace, before);
      for (std::size_t k = 0; k < count; ++k) losses[k] -= before[k];
    }
    silence_nulls(block, losses);
    const double least = origin ? -clip : 0;
    for (const double loss : losses)
      mine.loss_sum += std::isfinite(loss) ? std::clamp(loss - floor, least, clip) : 0.0;
  };
  for_each_piece(batch, SumKind::kVector, add_block, [&](Scratch& mine, std::int64_t) {
    mine.widen();
    mine.total[0] += to_sum_grid(std::exchange(mine.loss_sum, 0.0), scale_);
  });
  Int128 total = 0;
  for (const auto& each : scratch_)
    if (each->touched) total += each->total[0];
  return static_cast<double>(total) / scale_;
}

void PerExampleSum::collect(Vector& sum) const {
  sum.resize(engine_.parameters());
  bool wide = false;
  for (const auto& each : scratch_) wide = wide || (each->touched && each->wide);
  if (!wide) {
    std::vector<const std::int64_t*> totals;
    for (const auto& each : scratch_)
      if (each->touched && each->narrow_units > 0) totals.push_back(each->narrow_total.data());
    sum_grid_kernels().from(
        totals.data(), totals.size(), 1 / scale_, static_cast<std::size_t>(sum.size()), sum.data());
    return;
  }
  for (const auto& each : scratch_)
    if (each->touched) each->widen();
  for (Eigen::Index j = 0; j < sum.size(); ++j) {
    Int128 total = 0;
    for (const auto& each : scratch_)
      if (each->touched) total += each->total[static_cast<std::size_t>(j)];
    sum[j] = static_cast<double>(total) / scale_;
  }
}

}  // namespace sotto
