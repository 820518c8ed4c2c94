#include "sotto/optimizer/parts/output.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sotto/core/check.hpp"
#include "sotto/optimizer/parts/steps.hpp"

namespace sotto {
namespace {

double averaged_share(const OutputOptions& options) {
  if (is_drawn(options.output) || options.output == OutputKind::kBest) return 0;
  return options.output == OutputKind::kAverage && options.average == 0 ? 0.5 : options.average;
}

}  // namespace

Expected<void> check(const OutputOptions& options, std::optional<std::int64_t> steps) {
  if (!options.drawn_steps) return {};
  if (!is_drawn(options.output))
    return fail(ErrorKind::kUsage, "‘drawn_steps’ goes with ‘output random’.");
  if (*options.drawn_steps < 1 || (steps && *options.drawn_steps > *steps))
    return refused(
        "drawn_steps", "must lie between 1 and ‘steps’", fmt::format("{}", *options.drawn_steps));
  return {};
}

void fill_output(OutputOptions& options, std::int64_t steps, double coin) {
  SOTTO_CHECK(coin >= 0 && coin < 1);
  if (is_drawn(options.output) && !options.drawn_steps)
    options.drawn_steps =
        1 + std::min(steps - 1, static_cast<std::int64_t>(coin * static_cast<double>(steps)));
}

Output::Output(const OutputOptions& options, std::int64_t steps)
    : options_(options),
      steps_(is_drawn(options.output) ? options.drawn_steps.value_or(steps) : steps),
      average_(averaged_share(options), steps_) {}

SelectionQuery Output::query(double total_multiplier) const {
  // Of all, the selection costs epsilon²/8 and the steps 1/(2 multiplier²), both in zCDP.
  const double share = options_.selection_share;
  return {candidates_, options_.loss_clip, 2 * std::sqrt(share / (1 - share)) / total_multiplier};
}

std::optional<Event> Output::event(double total_multiplier, Relation relation) const {
  if (!selects()) return std::nullopt;
  return event_of(query(total_multiplier), relation);
}

void Output::before_step(const Vector& w) {
  if (options_.output == OutputKind::kRandomBefore) before_ = w;
}

void Output::add(const Vector& w) {
  average_.add(w);
  ++seen_;
  if (options_.output == OutputKind::kBest &&
      seen_ * options_.candidates / steps_ > (seen_ - 1) * options_.candidates / steps_)
    candidates_.push_back(w);
}

Expected<Vector> Output::take(Oracle& oracle, double total_multiplier) {
  if (options_.output == OutputKind::kRandomBefore) return before_;
  if (!selects() || candidates_.size() < 2) return average_.value();
  SelectionQuery selection = query(total_multiplier);
  std::vector<double> regularizer;
  for (const Vector& each : candidates_)
    regularizer.push_back(oracle.problem().regularizer.value(each));
  selection.public_part = regularizer;
  SOTTO_ASSIGN(const auto chosen, unless_spent(oracle.select(selection)));
  if (!chosen) return average_.value();
  return candidates_[static_cast<std::size_t>(chosen->value())];
}

void Output::archive(Archive& state) {
  state("average", average_)("seen", seen_, 1, steps_);
  if (options_.output == OutputKind::kBest)
    state("candidates", candidates_, static_cast<std::size_t>(options_.candidates));
  if (options_.output == OutputKind::kRandomBefore) state("before", before_);
}

}  // namespace sotto
