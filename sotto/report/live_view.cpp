#include "sotto/report/live_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "sotto/core/directed_text.hpp"
#include "sotto/privacy/seed_mark.hpp"

namespace sotto {
namespace {

constexpr std::size_t kMostNorms = 240;
constexpr std::array<const char*, 8> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<const char*, 8> kAscii = {"_", ".", ":", "-", "=", "+", "*", "#"};

bool is_drawn(double value) { return std::isfinite(value) && value > 0; }

/// Plain ASCII texts only: one byte per column.
std::string cut(std::string text, std::size_t width) {
  if (text.size() > width) text.resize(width);
  return text;
}

}  // namespace

std::string sparkline(const std::vector<double>& values, std::size_t width, bool unicode) {
  const std::size_t count = std::min(width, values.size());
  const auto begin = values.end() - static_cast<std::ptrdiff_t>(count);
  double low = INFINITY;
  double high = -INFINITY;
  for (auto at = begin; at != values.end(); ++at)
    if (is_drawn(*at)) {
      low = std::min(low, std::log(*at));
      high = std::max(high, std::log(*at));
    }
  std::string line;
  for (auto at = begin; at != values.end(); ++at) {
    if (!is_drawn(*at)) {
      line += ' ';
      continue;
    }
    const double share = high > low ? (std::log(*at) - low) / (high - low) : 0.5;
    const auto level = static_cast<std::size_t>(std::lround(7 * share));
    line += unicode ? kBlocks[level] : kAscii[level];
  }
  return line;
}

std::string duration_text(double seconds) {
  if (!(seconds >= 0) || !std::isfinite(seconds)) return "-";
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

LiveView::LiveView(std::string method, std::optional<double> epsilon, bool seeded)
    : method_(std::move(method)), epsilon_(epsilon), seeded_(seeded) {}

void LiveView::step(std::int64_t step,
                    std::int64_t steps,
                    double step_size,
                    double gradient_norm,
                    double passes,
                    double seconds,
                    double examples) {
  if (!first_) first_ = Point{step, seconds, examples};
  step_ = step;
  steps_ = steps;
  step_size_ = step_size;
  passes_ = passes;
  seconds_ = seconds;
  examples_ = examples;
  sum_ += gradient_norm;
  if (++summed_ < every_) return;
  norms_.push_back(sum_ / static_cast<double>(summed_));
  sum_ = 0;
  summed_ = 0;
  if (norms_.size() < kMostNorms) return;
  for (std::size_t k = 0; 2 * k + 1 < norms_.size(); ++k)
    norms_[k] = (norms_[2 * k] + norms_[2 * k + 1]) / 2;
  norms_.resize(kMostNorms / 2);
  every_ *= 2;
}

std::vector<std::string> LiveView::lines(std::size_t width, bool unicode) const {
  const double share = steps_ > 0 ? static_cast<double>(step_) / static_cast<double>(steps_) : 0;
  // All steps that were made here took seconds_; what was made before them, elsewhere, nothing.
  const auto made = static_cast<double>(first_ ? step_ - first_->step + 1 : 0);
  const double left = made > 0 ? seconds_ * static_cast<double>(steps_ - step_) / made : INFINITY;
  const double elapsed = first_ ? seconds_ - first_->seconds : 0;
  const double rate = elapsed > 0 ? (examples_ - first_->examples) / elapsed : 0;
  const std::size_t bar_width = std::clamp<std::size_t>(width / 4, 8, 30);
  const auto full = static_cast<std::size_t>(std::lround(share * static_cast<double>(bar_width)));
  const std::string head = fmt::format("{} [{}{}] step {}/{}, {} left",
                                       method_,
                                       std::string(full, '#'),
                                       std::string(bar_width - full, '.'),
                                       step_,
                                       steps_,
                                       duration_text(left));
  // Not the price of what was released so far: stopping here would not make the run cheaper.
  const std::string spent = !epsilon_ ? "NOT private, "
                                      : fmt::format("costs epsilon {}{}, {:.0f}% of it released, ",
                                                    text_up(*epsilon_, 4),
                                                    seed_mark(seeded_),
                                                    100 * share);
  const std::string what = fmt::format("  {}{}{:.4g} passes, step size {:.4g}",
                                       spent,
                                       rate > 0 ? fmt::format("{:.0f} examples/s, ", rate) : "",
                                       passes_,
                                       step_size_);
  const double last = norms_.empty() ? 0 : norms_.back();
  if (!is_drawn(last))
    return {cut(head, width), cut(what, width), cut("  no gradient norms released", width)};
  const std::string lead = fmt::format("  released gradient norm {:.3e} ", last);
  const std::size_t room = width > lead.size() ? width - lead.size() : 0;
  return {cut(head, width),
          cut(what, width),
          cut(lead, width) + sparkline(norms_, std::min<std::size_t>(room, 60), unicode)};
}

}  // namespace sotto
