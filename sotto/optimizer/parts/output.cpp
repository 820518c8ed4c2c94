#include "sotto/optimizer/parts/output.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sotto/core/check.hpp"
#include "sotto/optimizer/parts/steps.hpp"

namespace sotto {
namespace {

double averaged_share(const OutputOptions& options) {
  if (options.output == "random" || options.output == "best") return 0;
  return options.output == "average" && options.average == 0 ? 0.5 : options.average;
}

}  // namespace

Expected<void> check(const OutputOptions& options, std::optional<std::int64_t> steps) {
  const auto refuse = [](std::string_view name, auto value, std::string_view rule) {
    return fail(ErrorKind::kUsage, fmt::format("{} {}, but is {}.", dashed(name), rule, value));
  };
  if (!(options.average >= 0 && options.average <= 1))
    return refuse(
        "average", options.average, "must lie in [0, 1], the share of last steps averaged");
  if (options.drawn_steps && options.output != "random")
    return fail(ErrorKind::kUsage, "--drawn-steps goes with --output random.");
  if (options.drawn_steps && (*options.drawn_steps < 1 || (steps && *options.drawn_steps > *steps)))
    return refuse("drawn_steps", *options.drawn_steps, "must lie between 1 and --steps");
  if (options.candidates < 2 || options.candidates > 1000)
    return refuse("candidates", options.candidates, "must lie between 2 and 1000");
  if (!(options.selection_share > 0 && options.selection_share < 1))
    return refuse("selection_share", options.selection_share, "must lie between 0 and 1");
  if (!(std::isfinite(options.loss_clip) && options.loss_clip > 0))
    return refuse("loss_clip", options.loss_clip, "must be finite and > 0");
  return {};
}

void fill_output(OutputOptions& options, std::int64_t steps, double coin) {
  SOTTO_CHECK(coin >= 0 && coin < 1);
  if (options.output == "random" && !options.drawn_steps)
    options.drawn_steps =
        1 + std::min(steps - 1, static_cast<std::int64_t>(coin * static_cast<double>(steps)));
}

Output::Output(const OutputOptions& options, std::int64_t steps)
    : options_(options),
      steps_(options.output == "random" ? options.drawn_steps.value_or(steps) : steps),
      average_(averaged_share(options), steps_) {}

SelectionQuery Output::query(double total_multiplier) const {
  // Of all, the selection costs epsilon²/8 and the steps 1/(2 multiplier²), both in zCDP.
  const double share = options_.selection_share;
  return {candidates_, options_.loss_clip, 2 * std::sqrt(share / (1 - share)) / total_multiplier};
}

std::optional<Event> Output::event(double total_multiplier, Relation relation) const {
  if (options_.output != "best") return std::nullopt;
  return event_of(query(total_multiplier), relation);
}

void Output::add(const Vector& w) {
  average_.add(w);
  ++seen_;
  if (options_.output == "best" &&
      seen_ * options_.candidates / steps_ > (seen_ - 1) * options_.candidates / steps_)
    candidates_.push_back(w);
}

Expected<Vector> Output::take(Oracle& oracle, double total_multiplier) {
  if (options_.output != "best" || candidates_.size() < 2) return average_.value();
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
  if (options_.output == "best")
    state("candidates", candidates_, static_cast<std::size_t>(options_.candidates));
}

}  // namespace sotto
