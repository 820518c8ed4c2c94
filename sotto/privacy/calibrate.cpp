#include "sotto/privacy/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sotto/core/directed_text.hpp"

namespace sotto {
namespace {

constexpr double kTolerance = 1e-6;
constexpr double kSmallestNoise = 1e-9;
constexpr double kLargestNoise = 1e15;

Expected<void> check_target(const Target& target) {
  if (!(target.epsilon > 0 && std::isfinite(target.epsilon))) {
    return fail(
        ErrorKind::kUsage,
        fmt::format("epsilon must be finite and > 0, but is {}. Set ‘epsilon’ to a positive "
                    "number, for example 1.",
                    target.epsilon));
  }
  return check_delta(target.delta);
}

// How far an event is from the target: log(epsilon / target), <= 0 where it is met.
class Excess {
 public:
  Excess(const Target& target, const Accountant* accountant)
      : target_(target), accountant_(accountant) {}

  Expected<double> operator()(const Expected<Event>& event) const {
    if (!event) return tl::unexpected(event.error());
    SOTTO_ASSIGN(const CanonicalEvent form, canonical(*event));
    const Accountant* accountant = accountant_;
    if (accountant == nullptr) {
      SOTTO_ASSIGN(accountant, tightest_accountant(form));
    }
    SOTTO_ASSIGN(const double epsilon, accountant->epsilon_upper(form, target_.delta));
    if (epsilon <= target_.epsilon) return std::min(0.0, std::log(epsilon / target_.epsilon));
    return std::log(epsilon / target_.epsilon);
  }

 private:
  Target target_;
  const Accountant* accountant_;
};

// The target is met at `good` and missed at `bad`; positions are logarithms of the parameter.
// Chandrupatla's root search: inverse quadratic interpolation where it can be trusted, else
// bisection.
class Bracket {
 public:
  struct Point {
    double at;
    double excess;
  };

  Bracket(Point good, Point bad) : newest_(good), opposite_(bad), previous_(bad) {}

  double good() const { return newest_.excess <= 0 ? newest_.at : opposite_.at; }
  double width() const { return std::abs(newest_.at - opposite_.at); }

  // Where to look next, `margin` or more away from both ends.
  double candidate(double margin) const {
    const auto [a, fa] = newest_;
    const auto [b, fb] = opposite_;
    const auto [c, fc] = previous_;
    double fraction = 0.5;
    if (first_) {
      fraction = fa / (fa - fb);
    } else {
      const double x = (a - b) / (c - b);
      const double y = (fa - fb) / (fc - fb);
      if (y * y < x && (1 - y) * (1 - y) < 1 - x) {
        fraction =
            fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb);
      }
    }
    if (!std::isfinite(fraction)) fraction = 0.5;
    const double rim = std::min(0.5, margin / width());
    return a + std::clamp(fraction, rim, 1 - rim) * (b - a);
  }

  void update(Point point) {
    first_ = false;
    previous_ = newest_;
    if ((point.excess <= 0) != (newest_.excess <= 0)) {
      std::swap(opposite_, previous_);
    }
    newest_ = point;
  }

 private:
  Point newest_;
  Point opposite_;
  Point previous_;
  bool first_ = true;
};

// Shrinks the bracket to the tolerance; returns its good end.
Expected<double> refine(Bracket bracket, const PartialEventFamily& family, const Excess& excess) {
  while (bracket.width() > kTolerance) {
    const double at = bracket.candidate(0.45 * kTolerance);
    SOTTO_ASSIGN(const double value, excess(family(std::exp(at))));
    bracket.update({at, value});
  }
  return std::exp(bracket.good());
}

tl::unexpected<Error> out_of_reach(const Target& target, const std::string& why) {
  return fail(ErrorKind::kBudget,
              fmt::format("no setting meets epsilon {} at delta {}: {} Raise epsilon or delta, or "
                          "ask for less.",
                          target.epsilon,
                          target.delta,
                          why));
}

}  // namespace

Expected<double> calibrate_noise(const PartialEventFamily& family,
                                 const Target& target,
                                 const Accountant* accountant) {
  SOTTO_TRY(check_target(target));
  const Excess excess(target, accountant);
  // What noise can't reduce; a family that has no meaning at infinity is searched to the end
  // instead.
  if (const auto rest = excess(family(std::numeric_limits<double>::infinity()));
      rest && *rest > 0) {
    return out_of_reach(target,
                        fmt::format("the parts without this noise already cost epsilon {}.",
                                    text_up(std::exp(*rest) * target.epsilon)));
  }

  double at = 0;
  SOTTO_ASSIGN(double value, excess(family(1)));
  const bool was_met = value <= 0;
  const double end = std::log(was_met ? kSmallestNoise : kLargestNoise);
  while (true) {
    if (at == end) {
      if (was_met) return std::exp(end);
      return out_of_reach(target,
                          fmt::format("a noise multiplier of {:g} still costs epsilon {}.",
                                      kLargestNoise,
                                      text_up(std::exp(value) * target.epsilon)));
    }
    // epsilon falls like 1/z or faster, so this step about reaches the target.
    const double step = std::isfinite(value) ? std::clamp(1.1 * std::abs(value), 0.1, 5.0) : 3.0;
    const double next = was_met ? std::max(end, at - step) : std::min(end, at + step);
    SOTTO_ASSIGN(const double next_value, excess(family(std::exp(next))));
    const bool met = next_value <= 0;
    if (met != was_met) {
      const Bracket bracket =
          met ? Bracket({next, next_value}, {at, value}) : Bracket({at, value}, {next, next_value});
      return refine(bracket, family, excess);
    }
    at = next;
    value = next_value;
  }
}

Expected<double> calibrate_parameter(const PartialEventFamily& family,
                                     double low,
                                     double high,
                                     Privacy privacy,
                                     const Target& target,
                                     const Accountant* accountant) {
  SOTTO_TRY(check_target(target));
  if (!(low > 0 && low <= high && std::isfinite(high))) {
    return fail(
        ErrorKind::kUsage,
        fmt::format(
            "a parameter is calibrated in a range 0 < low <= high, but got [{}, {}].", low, high));
  }
  const Excess excess(target, accountant);
  const bool grows = privacy == Privacy::kGrowsWithParameter;
  const double safest = grows ? high : low;
  const double riskiest = grows ? low : high;
  SOTTO_ASSIGN(const double bad, excess(family(riskiest)));
  if (bad <= 0) return riskiest;
  SOTTO_ASSIGN(const double good, excess(family(safest)));
  if (good > 0) {
    return out_of_reach(target,
                        fmt::format("even the parameter {} costs epsilon {}.",
                                    safest,
                                    text_up(std::exp(good) * target.epsilon)));
  }
  return refine(Bracket({std::log(safest), good}, {std::log(riskiest), bad}), family, excess);
}

Expected<std::int64_t> calibrate_count(const std::function<Event(std::int64_t)>& family,
                                       std::int64_t low,
                                       std::int64_t high,
                                       const Target& target,
                                       const Accountant* accountant) {
  SOTTO_TRY(check_target(target));
  if (low < 0 || low > high) {
    return fail(
        ErrorKind::kUsage,
        fmt::format(
            "a count is calibrated in a range 0 <= low <= high, but got [{}, {}].", low, high));
  }
  const Excess excess(target, accountant);
  SOTTO_ASSIGN(double good_excess, excess(family(low)));
  if (good_excess > 0) {
    return out_of_reach(target,
                        fmt::format("even a count of {} costs epsilon {}.",
                                    low,
                                    text_up(std::exp(good_excess) * target.epsilon)));
  }
  std::int64_t good = low;
  std::int64_t bad = low;
  double bad_excess = 0;
  // Doubling from below never prices a count far beyond the answer.
  for (std::int64_t step = 1; bad == low; step *= 8) {
    const std::int64_t next = good > high - step ? high : good + step;
    if (next == good) return high;
    SOTTO_ASSIGN(const double value, excess(family(next)));
    if (value > 0) {
      bad = next;
      bad_excess = value;
    } else {
      good = next;
      good_excess = value;
    }
  }
  const auto position = [](std::int64_t count) { return std::log1p(static_cast<double>(count)); };
  Bracket bracket({position(good), good_excess}, {position(bad), bad_excess});
  while (bad - good > 1) {
    const double wanted = std::expm1(bracket.candidate(0));
    const auto middle = std::clamp(static_cast<std::int64_t>(wanted), good + 1, bad - 1);
    SOTTO_ASSIGN(const double value, excess(family(middle)));
    (value > 0 ? bad : good) = middle;
    bracket.update({position(middle), value});
  }
  return good;
}

}  // namespace sotto
