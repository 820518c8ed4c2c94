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
#include "sotto/core/version.hpp"
#include "sotto/data/schema.hpp"
#include "sotto/loss/loss_info.hpp"
#include "sotto/optimizer/optimizer.hpp"
#include "sotto/optimizer/registry.hpp"

namespace sotto {
namespace {

using nlohmann::json;
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
  if (const auto planned = listed(record, "settings", "steps"); planned && steps) {
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

/// Of version 0.1; those of later ones are priced again (verify_curve.cpp).
void check_old_spending(const json& record,
                        const json& statement,
                        const CanonicalEvent& spent,
                        Checks& checks) {
  if (!states_no_rule(statement)) return;
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

/// The batches that were drawn are those of the releases.
void check_drawn(const json& record, const CanonicalEvent& spent, Checks& checks) {
  const auto drawn = value<json>(record, "drawn");
  if (drawn && drawn->is_array() && !record.contains("lost")) {
    std::int64_t count = 0;
    for (const json& each : *drawn) count += value<std::int64_t>(each, "count").value_or(0);
    checks.require("drawn",
                   count == releases(spent),
                   fmt::format("{} batches for {} releases", count, releases(spent)));
  }
}

/// How many gradients a visit of a row can have computed, by what the method asks of a model.
struct PerVisit {
  double least = 0;
  double most = 2;  ///< a difference takes two
};
PerVisit gradients_per_visit(const json& record) {
  std::string name = value<std::string>(record, "method").value_or("");
  if (name == "auto") name = listed(record, "settings", "chosen_method").value_or(name);
  const auto method = find_method(name);
  if (!method || value<std::string>(record, "version") != kVersion) return {};
  const Capabilities needs = (*method)->needs;
  // Losses, Hessians and gaps are asked for without one. Of a resumed run the work that was lost
  // may be in one of the two numbers alone.
  const bool asks_else = needs.has(Capability::kLosses) || needs.has(Capability::kHessians) ||
                         listed(record, "settings", "output") == "best" ||
                         listed(record, "settings", "certificate_share").value_or("0") != "0" ||
                         record.contains("lost");
  return {asks_else ? 0.0 : 1.0, needs.has(Capability::kPairs) ? 2.0 : 1.0};
}

void check_effort(const json& record, const json& statement, Checks& checks) {
  const auto passes = value<double>(record, "passes");
  const auto n = value<double>(statement, "public_n");
  const auto gradients = value<double>(record, "gradient_evaluations");
  if (passes && n && gradients) {
    const double visits = *passes * *n;
    const PerVisit each = gradients_per_visit(record);
    checks.require(
        "gradient_evaluations",
        *gradients >= each.least * visits * (1 - kLastDigits) &&
            *gradients <= each.most * visits * (1 + kLastDigits),
        fmt::format(
            "the method computes {} to {} for every row that was visited", each.least, each.most));
  }
  const auto build = value<json>(record, "versions");
  if (build)
    checks.require("versions",
                   value<std::string>(*build, "sotto") == value<std::string>(record, "version"),
                   "another version of Sotto is said to have made the record");
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
  const auto stopped = value<std::string>(record, "stopped");
  const auto reasons = {StopReason::kPlanComplete,
                        StopReason::kStoppedEarly,
                        StopReason::kBudgetSpent,
                        StopReason::kPointFound};
  checks.require("stopped",
                 std::any_of(reasons.begin(),
                             reasons.end(),
                             [&](StopReason why) { return stopped == to_string(why); }),
                 "there is no such reason");
  // What the accountant proves of the plan; a filter and lost releases are held to a limit instead.
  const auto lower = price_in(record, "epsilon_lower");
  checks.require("epsilon_lower",
                 !record.contains("epsilon_lower") ||
                     (lower && by_plan && !record.contains("lost") && *lower >= 0 && claimed &&
                      *lower <= *claimed * (1 + kLastDigits)),
                 "it is above the claim, or of a run that has none");
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

std::vector<RecordCheck> check_copies(const json& record, bool price_curve) {
  Checks checks;
  const json statement = value<json>(record, "privacy").value_or(json::object());
  const bool is_private = claims_privacy(record);
  if (is_private) check_complete(record, statement, checks);
  check_known(record, statement, checks);
  if (is_private) check_said(record, statement, checks);
  check_flags(record, statement, checks);
  check_counts(record, statement, checks);
  if (is_private) check_effort(record, statement, checks);
  if (is_private) check_network(record, checks);
  const auto relation = parse_relation(value<std::string>(record, "neighbours").value_or(""));
  if (relation) {
    if (const auto spent = events_of(statement, "events", *relation)) {
      check_old_spending(record, statement, *spent, checks);
      check_drawn(record, *spent, checks);
      check_epsilons(record, statement, *spent, checks);
      check_plan(record, statement, *relation, checks);
      if (is_private && !checks.contradicts())
        check_settings(record, statement, *relation, nullptr, checks);
      if (price_curve) check_curves(record, statement, *spent, checks);
    }
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
  check_granted_curve(record, statement, run.granted, checks);
  SOTTO_ASSIGN(const double price_there, price(run, run.promise.budget.delta));
  const auto claimed = price_in(record, "epsilon_spent");
  checks.require("journal: epsilon",
                 claimed && *claimed >= price_there * (1 - kLastDigits),
                 fmt::format("by it the run costs {}", text_up(price_there)));
  return checks.take("journal", "holds the run as the record tells it");
}

namespace {

/// The schema that a model carries against what was protected and what it was trained on.
void check_schema(const json& record, const json& statement, const json& model, Checks& checks) {
  const auto text = value<std::string>(model, "schema");
  if (!text) return checks.require("model: schema", false, "it is no text");
  if (text->empty())
    return checks.require("model: schema",
                          listed(record, "options", "schema").value_or("").empty(),
                          "it has none, but the run was given one");
  const auto schema = Schema::parse(*text, "the model's schema");
  if (!schema) return checks.require("model: schema", false, "its text is none");
  checks.require("model: schema",
                 value<std::string>(statement, "unit") == schema->unit(),
                 "it protects another unit: " + schema->unit());
  std::vector<std::string> features = schema->feature_names();
  if (value<bool>(model, "bias") == true) features.emplace_back("bias");
  const auto classes = value<std::vector<std::string>>(model, "class_names");
  checks.require("model: schema",
                 value<std::vector<std::string>>(model, "feature_names") == features && classes &&
                     schema->is_named(*classes),
                 "its features or classes are not those of the model");
  if (!claims_privacy(record) || states_no_rule(statement) || checks.contradicts()) return;
  check_weights_by_schema(record, *text, checks);
  if (const auto relation = parse_relation(value<std::string>(record, "neighbours").value_or("")))
    check_settings(record, statement, *relation, &*text, checks);
}

}  // namespace

std::vector<RecordCheck> check_model(const json& record, const json& model) {
  Checks checks;
  checks.require("model",
                 value<json>(model, "sotto_model") == json(1),
                 "it is not of the version that a record knows");
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
  checks.require("model: network",
                 value<std::string>(record, "network").value_or("") ==
                     (model.contains("network") ? value<std::string>(model, "network") : ""),
                 "it has another");
  // That of a network is in its text.
  checks.require("model: loss",
                 value<std::string>(model, "loss") ==
                     (network ? to_string(LossSpec{}) : value<std::string>(record, "loss")),
                 "it has another");
  // Its weights are no longer those of the run, and another version may have written them.
  const bool recalibrated = model.is_object() && model.contains("recalibrated");
  if (recalibrated)
    checks.flag("model: recalibrated",
                "its scores were changed after the run, by its own words on public rows: "
                "post-processing, which costs nothing");
  checks.require("model: version",
                 recalibrated || value<std::string>(model, "made_by") ==
                                     "sotto " + value<std::string>(record, "version").value_or(""),
                 "another version made it");
  if (record.contains("options")) {
    const std::string text = listed(record, "options", "row_norm").value_or("0");
    checks.require("model: row norm",
                   value<double>(model, "row_norm") == std::strtod(text.c_str(), nullptr),
                   "it has another");
  }
  checks.require(
      "model: regularizer",
      value<std::string>(record, "regularizer") == value<std::string>(model, "regularizer"),
      "it has another");
  // Of a network also those that are not trained.
  const auto expected =
      network ? network_weights(value<std::string>(record, "network").value_or("")) : dimension;
  checks.require("model: weights",
                 weights && weights->is_array() && expected && std::ssize(*weights) == *expected,
                 "it has another number of them");
  check_schema(record, stated.value_or(json()), model, checks);
  checks.require("model: bias",
                 value<bool>(model, "bias") == (!network && listed(record, "options", "bias")) ||
                     !record.contains("options"),
                 "it differs from the option");
  // What a certificate says of a run's weights does not hold for others.
  checks.require("model: certificate",
                 recalibrated
                     ? !model.contains("certificate")
                     : value<json>(record, "certificate") == value<json>(model, "certificate"),
                 recalibrated ? "it has one, of other weights than its own" : "it has another");
  checks.require("model: classes",
                 value<json>(record, "class_names").value_or(json::array()) ==
                     value<json>(model, "class_names").value_or(json::array()),
                 "it has others");
  return checks.take("model", "is the record's");
}

}  // namespace sotto
