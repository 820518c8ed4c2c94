// The curves of a record: what had been spent after some steps. Only the number of releases is
// stated at a point; which ones they were follows from it and from the passes where there are one
// or two kinds, and lies within bounds where there are more: between those with the most and the
// least noise if that is all in which they differ.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>

#include "sotto/audit/record_checks.hpp"
#include "sotto/core/directed_text.hpp"
#include "sotto/core/version.hpp"
#include "sotto/optimizer/registry.hpp"
#include "sotto/privacy/filter.hpp"
#include "sotto/record/price_record.hpp"

namespace sotto {
namespace {

using nlohmann::json;

/// A run keeps about a third of it.
constexpr std::size_t kMostPoints = 128;
/// Bounds on the price of an accountant that rounds upwards may be this much above its own.
constexpr double kRough = 0.01;
/// Seconds of the processor. Ordinary curves take a tenth of it. A record that asks for more was
/// made to keep us busy, or has hundreds of kinds of releases; what is left of it is not priced,
/// and a flag says so. By a clock on the wall it would depend on what else the machine does.
constexpr double kPatience = 1.5;

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Point {
  std::int64_t step = 0;
  std::int64_t releases = 0;
  std::int64_t samples = 0;
  double passes = 0;
  std::optional<double> epsilon;  ///< if planned to end here
  std::optional<double> share;
};

/// How often each kind of release can have been made by then.
struct Bounds {
  CanonicalEvent least;
  CanonicalEvent most;
  bool exact = false;
};

std::optional<Point> point_in(const json& object) {
  const auto step = value<std::int64_t>(object, "step");
  const auto releases = value<std::int64_t>(object, "releases");
  const auto samples = value<std::int64_t>(object, "noise_samples");
  const auto passes = value<double>(object, "passes");
  for (const char* name : {"step", "releases", "noise_samples"})
    if (!object.is_object() || !object.contains(name) || !object[name].is_number_integer())
      return std::nullopt;
  if (!passes || !std::isfinite(*passes)) return std::nullopt;
  Point point{*step, *releases, *samples, *passes, price_in(object, kPointPrice), {}};
  if (object.contains(kPointPrice) && !point.epsilon) return std::nullopt;
  point.share = value<double>(object, "filter_share");
  if (object.contains("filter_share") && !point.share) return std::nullopt;
  return point;
}

class Curve {
 public:
  Curve(const json& record, const json& statement, const CanonicalEvent& spent, Checks& checks)
      : record_(record), statement_(statement), spent_(spent), checks_(checks) {}

  void check() {
    if (!read() || !grows()) return;
    find_rates();
    check_end();
    for (const Point& point : points_) check_passes(point);
    if (checks_.contradicts()) return;  // of what is wrong already nothing more is computed
    check_prices();
    check_shares();
  }

  /// By the charges of the journal, one by one: those of a filter are known in their order.
  void check_granted(const std::vector<Event>& granted) {
    if (!read() || !grows() || points_.front().share == std::nullopt) return;
    auto filter = make();
    std::size_t paid = 0;
    for (const Point& point : points_) {
      for (; paid < static_cast<std::size_t>(point.releases) && paid < granted.size(); ++paid)
        if (!filter || !(*filter)->try_spend(granted[paid])) return;  // told elsewhere
      const double share = filter ? (*filter)->spent() : 0;
      checks_.require("journal: spending",
                      static_cast<std::size_t>(point.releases) == paid && same(share, *point.share),
                      fmt::format("after {} charges a share of {} was spent", paid, share));
    }
  }

 private:
  static bool same(double a, double b) {
    return a == b ||
           std::abs(a - b) <= kLastDigits * std::max({std::abs(a), std::abs(b), kLastDigits});
  }

  bool read() {
    points_.clear();
    const auto list = value<json>(record_, "spending");
    if (!list || !list->is_array() || list->empty()) return false;
    if (list->size() > kMostPoints) return refuse("it has more points than a run keeps");
    for (const json& each : *list) {
      const auto point = point_in(each);
      if (!point) return refuse("a point lacks something, or it is of another kind");
      points_.push_back(*point);
    }
    return true;
  }

  bool refuse(const std::string& why) {
    checks_.require("spending", false, why);
    return false;
  }

  bool grows() {
    Point before;
    before.step = value<std::int64_t>(record_, "steps") == 0 ? -1 : 0;  // steps count from 1
    for (const Point& point : points_) {
      if (point.step <= before.step || point.releases < before.releases ||
          point.samples < before.samples || point.passes < before.passes * (1 - kLastDigits))
        return refuse(fmt::format("what had been spent falls at step {}", point.step));
      if (point.share.has_value() != points_.front().share.has_value() ||
          point.epsilon.has_value() != points_.front().epsilon.has_value())
        return refuse("some points are priced, others are not");
      if (point.share && !(*point.share >= before.share.value_or(0) * (1 - kLastDigits) &&
                           *point.share <= 1 + kLastDigits))
        return refuse(fmt::format("the share of the budget at step {} can't be", point.step));
      if (point.epsilon && !(*point.epsilon >= before.epsilon.value_or(0) * (1 - kRough)))
        return refuse(fmt::format("the price falls at step {}", point.step));
      before = point;
    }
    return true;
  }

  /// Where every release looks at its batch once, passes count releases.
  void find_rates() {
    const auto method = find_method(value<std::string>(record_, "method").value_or(""));
    counts_passes_ = method && !(*method)->needs.has(Capability::kHessians) &&
                     !record_.contains("lost") &&
                     std::all_of(spent_.terms.begin(), spent_.terms.end(), [](const Term& term) {
                       return term.mechanism == Term::Mechanism::kGaussian;
                     });
  }

  void check_end() {
    const Point& last = points_.back();
    const std::int64_t all = releases(spent_);
    checks_.require(
        "spending",
        last.releases == all,
        fmt::format("it ends with {} releases, but {} were charged", last.releases, all));
    checks_.require("spending",
                    last.samples == value<std::int64_t>(statement_, "noise_samples"),
                    "it ends with another number of noise samples than the statement");
    checks_.require("spending",
                    last.step == value<std::int64_t>(record_, "steps"),
                    "it does not end with the run");
    const auto passes = value<double>(record_, "passes");
    checks_.require("passes",
                    passes && nearly(*passes, last.passes),
                    "they are not those at the end of the curve");
    const bool by_filter = value<std::string>(statement_, "rule") == "filter";
    checks_.require("spending",
                    by_filter == last.share.has_value() && !(by_filter && last.epsilon),
                    "shares of a budget belong to a filter, prices to a plan");
    // One without prices was not written by a command.
    checks_.require("spending",
                    by_filter || last.epsilon || !record_.contains("command"),
                    "its points have no prices");
  }

  /// The least and the most that so many releases can have visited.
  std::pair<double, double> visits(std::int64_t wanted) const {
    std::vector<const Term*> terms;
    for (const Term& term : spent_.terms) terms.push_back(&term);
    std::sort(terms.begin(), terms.end(), [](auto* a, auto* b) { return a->rate < b->rate; });
    const auto sum = [&] {
      double visited = 0;
      std::int64_t left = wanted;
      for (const Term* term : terms) {
        const std::int64_t count = std::min(left, term->count);
        visited += static_cast<double>(count) * term->rate;
        left -= count;
      }
      return visited;
    };
    const double least = sum();
    std::reverse(terms.begin(), terms.end());
    return {least, sum()};
  }

  void check_passes(const Point& point) {
    if (!counts_passes_) return;
    const auto [least, most] = visits(point.releases);
    checks_.require(
        "passes",
        point.passes >= least * (1 - kLastDigits) && point.passes <= most * (1 + kLastDigits),
        fmt::format("{} releases can't have made {} passes by step {}",
                    point.releases,
                    point.passes,
                    point.step));
  }

  /// Whether all releases differ in their noise alone, as in a schedule: then they are ordered by
  /// their price.
  bool is_schedule() const {
    return spent_.terms.size() > 1 &&
           std::all_of(spent_.terms.begin(), spent_.terms.end(), [&](const Term& term) {
             const Term& first = spent_.terms.front();
             return term.mechanism == Term::Mechanism::kGaussian &&
                    first.mechanism == term.mechanism && first.sampling == term.sampling &&
                    first.rate == term.rate && first.batch == term.batch;
           });
  }

  /// The `wanted` releases with the most noise, or the least.
  CanonicalEvent extreme(std::int64_t wanted, bool most_noise) const {
    std::vector<Term> terms = spent_.terms;
    std::sort(terms.begin(), terms.end(), [&](const Term& a, const Term& b) {
      return most_noise ? a.parameter > b.parameter : a.parameter < b.parameter;
    });
    CanonicalEvent event{spent_.relation, {}};
    for (Term& term : terms) {
      term.count = std::min(term.count, wanted);
      wanted -= term.count;
      if (term.count > 0) event.terms.push_back(term);
    }
    return event;
  }

  Expected<Bounds> bounds_at(const Point& point) const {
    const std::int64_t all = releases(spent_);
    if (is_schedule())
      return Bounds{
          extreme(point.releases, true), extreme(point.releases, false), point.releases == all};
    Bounds bounds{{spent_.relation, {}}, {spent_.relation, {}}, true};
    const std::vector<Term>& terms = spent_.terms;
    std::vector<std::pair<std::int64_t, std::int64_t>> counts;
    for (const Term& term : terms)
      counts.emplace_back(std::max<std::int64_t>(0, point.releases - (all - term.count)),
                          std::min(point.releases, term.count));
    if (terms.size() == 2 && counts_passes_ && terms[0].rate != terms[1].rate) {
      // Two equations for two numbers.
      const double first = (point.passes - static_cast<double>(point.releases) * terms[1].rate) /
                           (terms[0].rate - terms[1].rate);
      const std::int64_t count = std::clamp<std::int64_t>(
          std::llround(std::clamp(first, 0.0, 0x1p53)), counts[0].first, counts[0].second);
      const double visited = static_cast<double>(count) * terms[0].rate +
                             static_cast<double>(point.releases - count) * terms[1].rate;
      if (!nearly(visited, point.passes))
        return fail(
            ErrorKind::kBadData,
            fmt::format("no {} of its releases make {} passes", point.releases, point.passes));
      counts[0] = {count, count};
      counts[1] = {point.releases - count, point.releases - count};
    }
    for (std::size_t k = 0; k < terms.size(); ++k) {
      bounds.exact &= counts[k].first == counts[k].second;
      for (auto [count, event] :
           {std::pair{counts[k].first, &bounds.least}, std::pair{counts[k].second, &bounds.most}}) {
        if (count == 0) continue;
        event->terms.push_back(terms[k]);
        event->terms.back().count = count;
      }
    }
    return bounds;
  }

  /// The stated number of every point against `cost` of its events. Points are taken from the whole
  /// of the curve first and then from what lies between them.
  template <class Cost>
  void compare(std::optional<double> Point::*stated, const char* what, const Cost& cost) {
    const double begin = processor_seconds();
    std::size_t done = 0;
    std::vector<bool> seen(points_.size());
    for (std::size_t every = 64; every >= 1; every /= 2)
      for (std::size_t k = 0; k < points_.size(); k += every) {
        const Point& point = points_[points_.size() - 1 - k];
        if (seen[k] || !(point.*stated)) continue;
        if (processor_seconds() - begin > kPatience)
          return checks_.flag("spending",
                              fmt::format("{} of its {} points were priced again; the others, "
                                          "which would take too long, only grow",
                                          done,
                                          points_.size()));
        seen[k] = true;
        ++done;
        if (!compare(point, *(point.*stated), what, cost)) return;
      }
  }

  template <class Cost>
  bool compare(const Point& point, double stated, const char* what, const Cost& cost) {
    const auto bounds = bounds_at(point);
    if (!bounds) return refuse(bounds.error().message);
    const auto least = cost(bounds->least, point);
    const auto most = bounds->exact ? least : cost(bounds->most, point);
    if (!least) return true;  // what can't be priced at all is told by the price of the plan
    const double low = bounds->exact ? *least : *least * (1 - kRough);
    const double high = bounds->exact ? *least
                        : most        ? *most * (1 + kRough)
                                      : std::numeric_limits<double>::infinity();
    const bool ours = value<std::string>(record_, "version") == kVersion;
    const bool holds = (stated >= low && stated <= high) || same(stated, low) || same(stated, high);
    const std::string text = fmt::format("{} at step {} is {}, but {} releases cost {}{}",
                                         what,
                                         point.step,
                                         stated,
                                         point.releases,
                                         text_up(low),
                                         bounds->exact ? std::string() : " to " + text_up(high));
    if (holds) return true;
    if (ours) return refuse(text);
    checks_.flag("spending", text + ", by this version");
    return false;
  }

  void check_prices() {
    if (!points_.back().epsilon) return;
    const auto accountant =
        find_accountant(value<std::string>(statement_, "accountant").value_or(""));
    const auto claimed = price_in(record_, "epsilon_spent");
    const auto delta = value<double>(record_, "delta");
    if (!accountant || !claimed || !delta || !(*accountant)->supports(spent_)) return;
    const PricedRun run{*accountant, *delta, *claimed};
    compare(&Point::epsilon, "epsilon", [&](const CanonicalEvent& events, const Point& point) {
      return epsilon_if_planned_to_end(events, point.samples, run);
    });
    check_lower(run);
  }

  /// What the record says of the plan's price from below.
  void check_lower(const PricedRun& run) {
    const auto relation = parse_relation(value<std::string>(record_, "neighbours").value_or(""));
    const auto plan = relation ? events_of(record_, "plan", *relation) : std::nullopt;
    const auto stated = price_in(record_, "epsilon_lower");
    if (!plan || !stated || !run.accountant->supports(*plan)) return;
    const auto lower = lower_epsilon(*plan, run);
    if (!lower) return;
    const std::string text =
        fmt::format("{} is stated, but the accountant proves {}", *stated, text_down(*lower));
    if (value<std::string>(record_, "version") == kVersion)
      checks_.require("epsilon_lower", same(*lower, *stated), text);
    else if (!same(*lower, *stated))
      checks_.flag("epsilon_lower", text + " by this version");
  }

  Expected<std::unique_ptr<Filter>> make() const {
    const auto budget = value<double>(record_, "epsilon_budget");
    const auto delta = value<double>(record_, "delta");
    const auto samples = value<std::int64_t>(record_, "planned_noise_samples");
    if (!budget || !delta || !samples || *samples < 0)
      return fail(ErrorKind::kBadData, "a filter without a budget");
    SOTTO_ASSIGN(const Target ideal, ideal_target({*budget, *delta}, *samples));
    return make_filter(value<std::string>(statement_, "accountant").value_or(""), ideal);
  }

  void check_shares() {
    if (!points_.back().share || !make()) return;
    compare(&Point::share,
            "the share of the budget",
            [&](const CanonicalEvent& events, const Point&) -> Expected<double> {
              SOTTO_ASSIGN(const auto filter, make());
              if (!events.terms.empty()) SOTTO_TRY(filter->try_spend(to_event(events)));
              return filter->spent();
            });
  }

  const json& record_;
  const json& statement_;
  const CanonicalEvent& spent_;
  Checks& checks_;
  std::vector<Point> points_;
  bool counts_passes_ = false;
};

/// The other curves count steps and passes as `spending` does.
void check_other(const char* name, const json& record, Checks& checks) {
  if (!record.contains(name)) return;
  const auto list = value<json>(record, name);
  const auto steps = value<std::int64_t>(record, "steps");
  const auto passes = value<double>(record, "passes");
  std::map<std::int64_t, double> known;
  if (const auto points = value<json>(record, "spending"); points && points->is_array())
    for (const json& each : *points)
      if (const auto point = point_in(each)) known[point->step] = point->passes;
  std::int64_t before = 0;
  double passed = 0;
  bool holds = list && list->is_array() && steps;
  if (holds)
    for (const json& each : *list) {
      const auto step = value<std::int64_t>(each, "step");
      const auto now = value<double>(each, "passes");
      holds = holds && step && each["step"].is_number_integer() && now && *step > before &&
              *step <= *steps && *now >= passed && passes && *now <= *passes * (1 + kLastDigits);
      if (!holds) break;
      before = *step;
      passed = *now;
      const auto same = known.find(*step);
      holds = same == known.end() || *step == *steps || nearly(same->second, *now);
    }
  checks.require(name, holds, "its steps and passes are not those of the run");
}

}  // namespace

void check_curves(const json& record,
                  const json& statement,
                  const CanonicalEvent& spent,
                  Checks& checks) {
  if (states_no_rule(statement)) return;
  for (const char* name : {"trace", "test_curve"}) check_other(name, record, checks);
  Curve(record, statement, spent, checks).check();
}

void check_granted_curve(const json& record,
                         const json& statement,
                         const std::vector<Event>& granted,
                         Checks& checks) {
  if (states_no_rule(statement) || record.contains("lost")) return;
  const CanonicalEvent unused;
  Curve(record, statement, unused, checks).check_granted(granted);
}

}  // namespace sotto
