#include "sotto/audit/verify_copies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "sotto/audit/record_checks.hpp"
#include "sotto/core/directed_text.hpp"
#include "sotto/core/json.hpp"
#include "sotto/core/option_names.hpp"
#include "sotto/core/version.hpp"
#include "sotto/geometry/constraint_set.hpp"
#include "sotto/loss/loss_info.hpp"
#include "sotto/optimizer/registry.hpp"

namespace sotto {
namespace {

using nlohmann::json;
std::optional<CanonicalEvent> events_of(const json& object, const char* name, Relation relation) {
  const auto text = value<std::string>(object, name);
  if (!text) return std::nullopt;
  const auto event = parse_event(*text, relation);
  if (!event) return std::nullopt;
  auto terms = canonical(*event);
  return terms ? std::optional(*std::move(terms)) : std::nullopt;
}

bool same(const CanonicalEvent& a, const CanonicalEvent& b) { return within(a, b) && within(b, a); }

/// The setting of this name, as text.
std::optional<std::string> setting(const json& record, const std::string& wanted) {
  const auto settings = value<json>(record, "settings");
  if (settings && settings->is_array())
    for (const json& each : *settings)
      if (value<std::string>(each, "name") == wanted) return value<std::string>(each, "value");
  return std::nullopt;
}

/// With a known seed: as long as nobody knows it.
bool claims_privacy(const json& record) {
  return value<bool>(record, "private").value_or(false) ||
         value<bool>(record, "private_if_seed_secret").value_or(false);
}

void check_flags(const json& record, const json& statement, Checks& checks) {
  for (const char* flag : {"insecure_seed", "unsafe_diagnostics"}) {
    const auto here = value<bool>(record, flag);
    const auto there = value<bool>(statement, flag);
    checks.require(flag,
                   (!here && !record.contains(flag)) || !there || here == there,
                   "the record and its privacy statement say different things");
  }
  const auto is_private = value<bool>(record, "private");
  const auto stated = value<bool>(statement, "private");
  checks.require("private",
                 !is_private || !stated || *is_private == *stated,
                 "the record and its privacy statement say different things");
  checks.require("private",
                 !(is_private.value_or(false) && record.contains("private_if_seed_secret")),
                 "a run with a known seed is private only if the seed is secret");
  const bool shows = value<bool>(record, "unsafe_diagnostics").value_or(false);
  checks.require("diagnostics",
                 !record.contains("diagnostics") || record["diagnostics"].is_null() || shows,
                 "it holds true training values, but says that none were shown");
  const bool tested = record.contains("test") && !record["test"].is_null();
  checks.require("test",
                 !tested || value<bool>(statement, "test_declared_public").value_or(true),
                 "it was evaluated on test rows that nobody declared public");
}

void check_counts(const json& record, const json& statement, Checks& checks) {
  for (const char* name : {"steps",
                           "dimension",
                           "planned_noise_samples",
                           "passes",
                           "gradient_evaluations",
                           "noise_multiplier",
                           "epsilon_planned"})
    checks.require(name,
                   !record.contains(name) || record[name].is_number() || record[name].is_null(),
                   "it is no number");
  for (const char* name : {"steps", "dimension", "planned_noise_samples"})
    if (const auto number = value<double>(record, name))
      checks.require(name, *number >= 0 && *number == std::floor(*number), "it is no count");
  for (const char* name : {"passes", "gradient_evaluations", "noise_multiplier"})
    if (const auto number = value<double>(record, name))
      checks.require(name, *number >= 0 && std::isfinite(*number), "it is out of range");
  if (const auto n = value<double>(statement, "public_n"))
    checks.require("public_n", *n >= 1 && *n == std::floor(*n), "it is no number of units");
  const auto steps = value<std::int64_t>(record, "steps");
  if (const auto planned = setting(record, "steps"); planned && steps) {
    char* end = nullptr;
    const double most = std::strtod(planned->c_str(), &end);
    if (end != planned->c_str() && *end == '\0')
      checks.require("steps",
                     static_cast<double>(*steps) <= most,
                     fmt::format("{} were made of {} that its settings allow", *steps, *planned));
  }
  // The curves end where the run did.
  for (const char* curve : {"trace", "spending"}) {
    const auto points = value<json>(record, curve);
    if (!points || !points->is_array() || points->empty() || !steps) continue;
    std::int64_t before = -1;
    bool grows = true;
    for (const json& point : *points) {
      const auto step = value<std::int64_t>(point, "step");
      grows = grows && step && *step > before;
      before = step.value_or(before);
    }
    checks.require(curve, grows && before <= *steps, "its steps are not those of the run");
    if (std::string(curve) == "spending")
      checks.require(curve, before == *steps, "it does not end with the run");
  }
}

void check_spending(const json& record,
                    const json& statement,
                    const CanonicalEvent& spent,
                    Checks& checks) {
  const auto points = value<json>(record, "spending");
  if (!points || !points->is_array() || points->empty()) return;
  const json& last = points->back();
  if (const auto released = value<std::int64_t>(last, "releases"))
    checks.require(
        "spending",
        *released == releases(spent),
        fmt::format("it ends with {} releases, but {} were charged", *released, releases(spent)));
  const auto drawn = value<std::int64_t>(last, "noise_samples");
  const auto stated = value<std::int64_t>(statement, "noise_samples");
  checks.require("spending",
                 !drawn || !stated || *drawn == *stated,
                 "it ends with another number of noise samples than the statement");
  for (const json& point : *points)
    if (const auto share = value<double>(point, "filter_share"))
      checks.require("spending", *share >= 0 && *share <= 1 + kLastDigits, "a share is above 1");
}

/// The batches that were drawn are those of the releases, and the passes those of the curve.
void check_drawn(const json& record, const CanonicalEvent& spent, Checks& checks) {
  const auto drawn = value<json>(record, "drawn");
  const auto points = value<json>(record, "spending");
  if (drawn && drawn->is_array() && !record.contains("lost")) {
    std::int64_t count = 0;
    for (const json& each : *drawn) count += value<std::int64_t>(each, "count").value_or(0);
    checks.require("drawn",
                   count == releases(spent),
                   fmt::format("{} batches for {} releases", count, releases(spent)));
  }
  if (!points || !points->is_array() || points->empty()) return;
  const auto passes = value<double>(points->back(), "passes");
  const auto stated = value<double>(record, "passes");
  checks.require("passes",
                 !passes || !stated || nearly(*passes, *stated),
                 "they are not those at the end of the curve");
}

/// An infinite one is written as null.
std::optional<double> price_in(const json& record, const char* name) {
  if (!record.contains(name)) return std::nullopt;
  if (record[name].is_null()) return std::numeric_limits<double>::infinity();
  return value<double>(record, name);
}

void check_epsilons(const json& record,
                    const json& statement,
                    const CanonicalEvent& spent,
                    Checks& checks) {
  // Version 0.1, which states no rule, claimed what had happened.
  if (states_no_rule(statement)) return;
  const auto claimed = price_in(record, "epsilon_spent");
  const auto planned = price_in(record, "epsilon_planned");
  if (claimed && planned && !record.contains("lost") && !spent.terms.empty())
    checks.require("epsilon_planned",
                   nearly(*claimed, *planned),
                   fmt::format("{} was planned, {} is claimed", *planned, *claimed));
  const auto relation = parse_relation(value<std::string>(record, "neighbours").value_or(""));
  const auto plan = relation ? events_of(record, "plan", *relation) : std::nullopt;
  const bool by_plan = value<std::string>(statement, "rule") == "plan";
  const bool complete = by_plan && plan && same(*plan, spent) && !record.contains("lost");
  if (by_plan && plan && !record.contains("lost"))
    checks.require(
        "stopped",
        complete || value<std::string>(record, "stopped") != to_string(StopReason::kPlanComplete),
        "not all of the plan was released");
  // What each point would have cost as a plan of its own; a rough price may be a little lower.
  constexpr double kRough = 0.01;
  double before = 0;
  const auto points = value<json>(record, "spending");
  if (points && points->is_array())
    for (const json& point : *points)
      if (const auto price = value<double>(point, "epsilon_if_planned_to_end_here")) {
        checks.require("spending", *price >= before * (1 - kRough), "a price falls");
        checks.require("spending",
                       !claimed || *price <= *claimed * (1 + kRough),
                       "a part costs more than the whole");
        before = *price;
        if (complete && claimed && &point == &points->back())
          checks.require("spending",
                         nearly(*price, *claimed),
                         fmt::format("it ends at epsilon {}, but {} is claimed", *price, *claimed));
      }
  const auto lower = value<double>(record, "epsilon_lower");
  if (lower && claimed)
    checks.require(
        "epsilon_lower", *lower <= *claimed * (1 + kLastDigits), "it is above the claim");
}

/// What the method plans with the settings that the record states.
void check_plan(const json& record, const json& statement, Relation relation, Checks& checks) {
  const auto name = value<std::string>(record, "method");
  const auto settings = value<json>(record, "settings");
  const auto dimension = value<std::int64_t>(record, "dimension");
  const auto n = value<std::int64_t>(statement, "public_n");
  const auto multiplier = value<double>(record, "noise_multiplier");
  const auto stated = events_of(record, "plan", relation);
  if (!name || !settings || !settings->is_array() || !dimension || !n || *n < 1 || !multiplier ||
      !stated || value<std::string>(statement, "rule") != "plan")
    return;
  // A polytope is read from a file, which is not opened here, and other versions may have had other
  // settings. In all other records the settings are those that the run was planned with.
  const bool ours = value<std::string>(record, "version") == kVersion &&
                    !value<std::string>(record, "constraint").value_or("").starts_with("polytope");
  const auto cannot = [&](const std::string& why) {
    const std::string text = "the plan can't be made again from them: " + why;
    if (ours)
      checks.require("settings", false, text);
    else
      checks.flag("settings", text);
  };
  constexpr double kLargest = 1e100;
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  if (!(*multiplier > 1 / kLargest && *multiplier < kLargest) || *n > kMost || *dimension < 1 ||
      *dimension > kMost)
    return checks.require("settings", false, "a number is out of range");
  // `auto` states what it chose, and the settings of that.
  const std::string chosen = setting(record, "chosen_method").value_or(*name);
  const auto method = find_method(*name == "auto" ? chosen : *name);
  if (!method) return checks.require("settings", false, "there is no method " + chosen);
  PublicFacts facts;
  facts.problem.n = *n;
  facts.problem.dimension = *dimension;
  facts.problem.relation = relation;
  facts.problem.row_norm = 1;
  facts.problem.row_max = 1;
  facts.problem.linear_rows = value<std::string>(statement, "unit").value_or("row") == "row";
  facts.problem.network = value<std::string>(record, "loss") == "network";
  if (facts.problem.network) facts.problem.linear_rows = false;
  if (const auto loss = parse_loss(value<std::string>(record, "loss").value_or("")))
    facts.problem.loss = loss_info(*loss);
  // Not one that would be read from a file which the record names.
  if (const auto set = value<std::string>(record, "constraint");
      set && !set->starts_with("polytope"))
    if (auto constraint = parse_constraint(*set)) facts.problem.constraint = *std::move(constraint);
  facts.single_release_multiplier = 1;
  facts.delta = value<double>(record, "delta").value_or(0);
  facts.epsilon = value<double>(record, "epsilon_budget").value_or(0);
  GivenOptions given;
  for (const json& each : *settings) {
    const auto option = value<std::string>(each, "name");
    const auto text = value<std::string>(each, "value");
    if (!option || !text || *text == "none" || *text == "auto") continue;
    const bool known = std::any_of((*method)->options.begin(),
                                   (*method)->options.end(),
                                   [&](const auto& info) { return info.name == *option; });
    if (known) given.emplace_back(*option, *text);
  }
  for (const auto& info : (*method)->options)
    if (ours)
      checks.require("settings", setting(record, info.name).has_value(), info.name + " is missing");
  const auto configured = (*method)->configure(given, facts);
  if (!configured) return cannot(with_flags(configured.error().message));
  const Plan plan = configured->optimizer->plan(facts.problem, *multiplier);
  if (!plan.filter.empty()) return cannot("the method has a filter, but the record a plan");
  const auto made = canonical(plan.event);
  if (!made) return cannot(with_flags(made.error().message));
  checks.require("settings",
                 same(*made, *stated),
                 fmt::format("with them the method plans {}, but the record says {}",
                             to_string(to_event(*made)),
                             to_string(to_event(*stated))));
  if (const auto samples = value<std::int64_t>(record, "planned_noise_samples"))
    checks.require("settings",
                   *samples == plan.noise_samples,
                   fmt::format("with them the method draws {} noise samples, the record plans {}",
                               plan.noise_samples,
                               *samples));
}

/// A record that names no run of the journal. Only version 0.1 wrote such records of private runs:
/// one of its runs must have been charged the same.
void check_unnamed(const json& record,
                   const json& statement,
                   const JournalContent& journal,
                   Checks& checks) {
  if (!claims_privacy(record))
    return checks.flag("journal", "the record claims no privacy and names no run of a journal");
  if (!states_no_rule(statement))
    return checks.require("journal", false, "the record names no run of it, as its version does");
  const auto is_it = [&](const JournalRun& run) {
    const auto spent = events_of(statement, "events", run.relation);
    const auto plan = events_of(record, "plan", run.relation);
    const auto charged = canonical(Event::compose(run.charged));
    return run.states_no_rule &&
           value<std::string>(record, "neighbours") == std::string(to_string(run.relation)) &&
           value<std::string>(record, "method") == run.method &&
           value<double>(record, "delta") == run.promise.budget.delta &&
           price_in(record, "epsilon_budget") == run.promise.budget.epsilon && spent && charged &&
           same(*spent, *charged) &&
           (run.promise.rule == PriceRule::kFilter || (plan && same(*plan, run.promise.plan)));
  };
  if (std::none_of(journal.runs.begin(), journal.runs.end(), is_it))
    return checks.require(
        "journal", false, "the record names no run of it, and none of version 0.1 is the same");
  checks.flag("journal", "the record names no run of it; one of version 0.1 was charged the same");
}

/// What the opening line says beside its promise. Lines of earlier versions say less.
void check_opening(const json& record,
                   const json& statement,
                   const JournalRun& run,
                   Checks& checks) {
  checks.require("journal: method",
                 value<std::string>(record, "method") == run.method,
                 "it has another: " + run.method);
  checks.require("journal: units",
                 run.units == 0 || value<std::int64_t>(statement, "public_n") == run.units,
                 fmt::format("it has {}", run.units));
  checks.require("journal: seed",
                 run.units == 0 || value<bool>(record, "insecure_seed") == run.seeded,
                 run.seeded ? "it has one that is known" : "it has none");
  if (run.unit.empty() || !run.unsafe_diagnostics)
    return checks.flag("journal: unit", "it does not say what is protected, as later ones do");
  checks.require("journal: unit",
                 value<std::string>(statement, "unit") == run.unit,
                 "it has another: " + run.unit);
  checks.require("journal: unsafe_diagnostics",
                 value<bool>(record, "unsafe_diagnostics") == run.unsafe_diagnostics,
                 *run.unsafe_diagnostics ? "by it true training values were printed"
                                         : "by it none were printed");
}

}  // namespace

std::vector<RecordCheck> check_copies(const json& record) {
  Checks checks;
  const json statement = value<json>(record, "privacy").value_or(json::object());
  const bool is_private = claims_privacy(record);
  if (is_private) check_complete(record, statement, checks);
  if (is_private) check_said(record, statement, checks);
  check_flags(record, statement, checks);
  check_counts(record, statement, checks);
  const auto relation = parse_relation(value<std::string>(record, "neighbours").value_or(""));
  if (relation) {
    if (const auto spent = events_of(statement, "events", *relation)) {
      check_spending(record, statement, *spent, checks);
      check_drawn(record, *spent, checks);
      check_epsilons(record, statement, *spent, checks);
    }
    check_plan(record, statement, *relation, checks);
  }
  return checks.take("copies", "what is said twice is the same");
}

Expected<std::vector<RecordCheck>> check_journal(const json& record,
                                                 const JournalContent& journal) {
  Checks checks;
  const json statement = value<json>(record, "privacy").value_or(json::object());
  const json place = value<json>(statement, "journal").value_or(json::object());
  const auto name = value<std::string>(place, "run");
  if (!name) {
    check_unnamed(record, statement, journal, checks);
    return checks.take();
  }
  const JournalHead head{value<std::int64_t>(place, "line").value_or(0),
                         value<std::string>(place, "chain").value_or("")};
  checks.require("journal",
                 journal.holds(head),
                 fmt::format("it does not hold line {} as the record remembers it: it was cut "
                             "back, replaced or written anew since",
                             head.line));
  const auto found = std::find_if(journal.runs.begin(),
                                  journal.runs.end(),
                                  [&](const JournalRun& run) { return run.name == *name; });
  if (found == journal.runs.end()) {
    checks.require("journal", false, "the record's run is not in it");
    return checks.take();
  }
  const JournalRun& run = *found;
  const auto relation = parse_relation(value<std::string>(record, "neighbours").value_or(""));
  checks.require("journal: relation",
                 relation && *relation == run.relation,
                 "it has another: " + std::string(to_string(run.relation)));
  check_opening(record, statement, run, checks);
  checks.require("journal: rule",
                 value<std::string>(statement, "rule") == to_string(run.promise.rule),
                 "it has another: " + std::string(to_string(run.promise.rule)));
  checks.require("journal: delta",
                 value<double>(record, "delta") == run.promise.budget.delta,
                 "it has another");
  checks.require("journal: budget",
                 price_in(record, "epsilon_budget") == run.promise.budget.epsilon,
                 fmt::format("it has {}", text_up(run.promise.budget.epsilon)));
  if (relation && *relation == run.relation) {
    const auto spent = events_of(statement, "events", *relation);
    SOTTO_ASSIGN(const CanonicalEvent charged, canonical(Event::compose(run.charged)));
    checks.require("journal: charges",
                   spent && same(*spent, charged),
                   "it holds " + to_string(to_event(charged)));
    if (run.promise.rule == PriceRule::kPlan) {
      const auto plan = events_of(record, "plan", *relation);
      checks.require("journal: plan",
                     plan && same(*plan, run.promise.plan),
                     "it has another: " + to_string(to_event(run.promise.plan)));
    }
  }
  checks.require("journal: planned noise samples",
                 value<std::int64_t>(record, "planned_noise_samples") == run.promise.samples,
                 fmt::format("it has {}", run.promise.samples));
  checks.require("journal: noise samples",
                 value<std::int64_t>(statement, "noise_samples") == run.samples,
                 fmt::format("it has {}", run.samples));
  SOTTO_ASSIGN(const double price_there, price(run, run.promise.budget.delta));
  const auto claimed = price_in(record, "epsilon_spent");
  checks.require("journal: epsilon",
                 claimed && *claimed >= price_there * (1 - kLastDigits),
                 fmt::format("by it the run costs {}", text_up(price_there)));
  return checks.take("journal", "holds the run as the record tells it");
}

std::vector<RecordCheck> check_model(const json& record, const json& model) {
  Checks checks;
  const auto stated = value<json>(record, "privacy");
  checks.require("model: statement",
                 stated && stated->is_object() && stated == value<json>(model, "privacy"),
                 "its privacy statement is another than the record's");
  checks.require("model: method",
                 value<std::string>(record, "method") == value<std::string>(model, "method"),
                 "it has another");
  const auto weights = value<json>(model, "weights");
  const auto dimension = value<std::int64_t>(record, "dimension");
  const bool network = value<std::string>(record, "loss") == "network";
  if (network)
    checks.require("model: network",
                   value<std::string>(record, "network") == value<std::string>(model, "network"),
                   "it has another");
  else
    checks.require("model: loss",
                   value<std::string>(record, "loss") == value<std::string>(model, "loss"),
                   "it has another");
  checks.require("model: version",
                 value<std::string>(model, "made_by") ==
                     "sotto " + value<std::string>(record, "version").value_or(""),
                 "another version made it");
  if (const auto options = value<json>(record, "options");
      options && options->is_array() && !network)
    for (const json& each : *options)
      if (value<std::string>(each, "name") == "row_norm") {
        const std::string text = value<std::string>(each, "value").value_or("");
        checks.require("model: row norm",
                       value<double>(model, "row_norm") == std::strtod(text.c_str(), nullptr),
                       "it has another");
      }
  checks.require(
      "model: regularizer",
      value<std::string>(record, "regularizer") == value<std::string>(model, "regularizer"),
      "it has another");
  checks.require("model: weights",
                 network || (weights && dimension && std::ssize(*weights) == *dimension),
                 "it has another number of them");
  checks.require("model: classes",
                 value<json>(record, "class_names") == value<json>(model, "class_names"),
                 "it has others");
  return checks.take("model", "is the record's");
}

}  // namespace sotto
