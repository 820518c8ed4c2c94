#include "sotto/audit/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "sotto/audit/verify_copies.hpp"
#include "sotto/core/directed_text.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/core/option_names.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/privacy/promise.hpp"
#include "sotto/privacy/sampling.hpp"
#include "sotto/report/reported_run.hpp"

namespace sotto {
namespace {

/// The part of a budget that a calibrated plan uses at least.
constexpr double kCalibrated = 0.999;

using Outcome = RecordCheck::Outcome;

template <class T>
Expected<T> field(const nlohmann::json& json, const char* name) {
  try {
    return json.at(name).get<T>();
  } catch (const nlohmann::json::exception&) {
    return fail(ErrorKind::kBadData,
                fmt::format("the run record has no usable field '{}'. Is it the file that "
                            "`sotto train ‘record’` wrote?",
                            name));
  }
}

/// null stands for infinity.
Expected<double> number(const nlohmann::json& json, const char* name) {
  const auto found = json.find(name);
  if (found != json.end() && found->is_null()) return kInfinity;
  return field<double>(json, name);
}

tl::unexpected<Error> out_of_range(const char* name) {
  return fail(ErrorKind::kBadData,
              fmt::format("the run record's field '{}' is out of range.", name));
}

/// A whole number that is not negative.
Expected<std::int64_t> count(const nlohmann::json& json, const char* name) {
  SOTTO_ASSIGN(const nlohmann::json value, field<nlohmann::json>(json, name));
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  if (!value.is_number_integer() || value < 0 || value > kMost) return out_of_range(name);
  return value.get<std::int64_t>();
}

class Verifier {
 public:
  explicit Verifier(const nlohmann::json& record) : record_(record) {}

  Expected<Verification> run() {
    if (!record_.is_object() || !record_.contains("sotto_run") || record_["sotto_run"] != 1)
      return fail(ErrorKind::kBadData,
                  "this is not a run record of version 1. `sotto train ‘record FILE’` writes one.");
    SOTTO_ASSIGN(result_.is_private, field<bool>(record_, "private"));
    // With a known seed: private as long as the seed is.
    if (const auto secret = record_.find("private_if_seed_secret"); secret != record_.end())
      result_.is_private |= *secret == true;
    SOTTO_ASSIGN(result_.claimed_epsilon, number(record_, "epsilon_spent"));
    SOTTO_ASSIGN(result_.delta, field<double>(record_, "delta"));
    if (!(result_.delta >= 0 && result_.delta < 1)) return out_of_range("delta");
    flags();
    result_.is_seeded = record_.contains("insecure_seed") && record_["insecure_seed"] == true;
    if (!result_.is_private) {
      for (RecordCheck& check : check_copies(record_)) result_.checks.push_back(std::move(check));
      add("claim", Outcome::kFlag, "the run claims no privacy; there is nothing to verify");
      return readable();
    }
    SOTTO_TRY(statement());
    SOTTO_TRY(promise());
    SOTTO_TRY(prices());
    SOTTO_TRY(plan());
    SOTTO_TRY(drawn());
    for (RecordCheck& check : check_copies(record_, !result_.contradicts()))
      result_.checks.push_back(std::move(check));
    if (states_no_rule_) version_01();
    return readable();
  }

 private:
  /// What holds together has fields of the types that whoever reports the run takes them for.
  Expected<Verification> readable() {
    if (!result_.contradicts()) SOTTO_TRY(reported_run(record_, "", "the run record"));
    return std::move(result_);
  }

  void add(std::string name, Outcome outcome, std::string detail) {
    result_.checks.push_back({std::move(name), outcome, std::move(detail)});
  }
  void require(std::string name, bool holds, std::string if_so, std::string if_not) {
    add(std::move(name),
        holds ? Outcome::kOk : Outcome::kContradiction,
        holds ? std::move(if_so) : std::move(if_not));
  }

  void flags() {
    const auto flag = [&](const char* name, const char* says, const char* fine) {
      const auto found = record_.find(name);
      const bool clean = found != record_.end() && found->is_boolean() && !found->get<bool>();
      add(name, clean ? Outcome::kOk : Outcome::kFlag, clean ? fine : says);
    };
    flag("insecure_seed",
         "randomness came from a known seed: anybody with the seed can remove the noise",
         "randomness came from the operating system");
    flag("unsafe_diagnostics",
         "true training values were printed beside the model: the guarantee does not cover them",
         "no true training values were printed");
  }

  /// The record repeats its guarantee; every copy must be the same, under one relation.
  Expected<void> statement() {
    SOTTO_ASSIGN(const std::string neighbours, field<std::string>(record_, "neighbours"));
    SOTTO_ASSIGN(relation_, parse_relation(neighbours));
    SOTTO_ASSIGN(statement_, field<nlohmann::json>(record_, "privacy"));
    SOTTO_ASSIGN(const double epsilon, number(statement_, "epsilon"));
    SOTTO_ASSIGN(const double delta, field<double>(statement_, "delta"));
    SOTTO_ASSIGN(const std::string other, field<std::string>(statement_, "neighbours"));
    require("relation",
            other == neighbours,
            neighbours + " everywhere",
            fmt::format("the record says {}, its privacy statement {}", neighbours, other));
    require("statement",
            epsilon == result_.claimed_epsilon && delta == result_.delta,
            "the model's statement is the record's",
            fmt::format("the record claims ({}, {}), its privacy statement ({}, {})",
                        result_.claimed_epsilon,
                        result_.delta,
                        epsilon,
                        delta));
    SOTTO_ASSIGN(const std::string events, field<std::string>(statement_, "events"));
    SOTTO_ASSIGN(const Event spent, parse_event(events, relation_));
    SOTTO_ASSIGN(spent_, canonical(spent));
    return {};
  }

  /// What the run promised before its first release, by which it is priced.
  Expected<void> promise() {
    SOTTO_ASSIGN(promise_.budget.epsilon, number(record_, "epsilon_budget"));
    promise_.budget.delta = result_.delta;
    SOTTO_ASSIGN(const std::string text, field<std::string>(record_, "plan"));
    SOTTO_ASSIGN(const Event event, parse_event(text, relation_));
    SOTTO_ASSIGN(promise_.plan, canonical(event));
    SOTTO_ASSIGN(const std::string quoted, field<std::string>(statement_, "accountant"));
    if (const auto accountant = find_accountant(quoted)) promise_.limit_by = *accountant;
    SOTTO_ASSIGN(samples_, count(statement_, "noise_samples"));
    const std::int64_t planned = releases(promise_.plan);
    const std::int64_t spent = releases(spent_);
    require("noise samples",
            samples_ >= spent,
            fmt::format("{} for {} releases", samples_, spent),
            fmt::format("only {} for {} releases", samples_, spent));
    bool by_shares = false;  // only a filter has them
    if (const auto points = record_.find("spending"); points != record_.end() && points->is_array())
      for (const auto& point : *points)
        by_shares |= point.is_object() && point.contains("filter_share");
    const std::string rule = statement_.value("rule", "");
    states_no_rule_ = rule.empty();
    promise_.states_samples = !states_no_rule_;
    if (states_no_rule_) {
      promise_.rule = by_shares ? PriceRule::kFilter : PriceRule::kPlan;
      // The mean of a release, for all that were planned.
      const std::int64_t mean = spent > 0 ? samples_ / spent + (samples_ % spent != 0) : 0;
      if (__builtin_mul_overflow(mean, std::max(planned, spent), &promise_.samples))
        return out_of_range("noise_samples");
    } else {
      SOTTO_ASSIGN(promise_.rule, parse_price_rule(rule));
      SOTTO_ASSIGN(promise_.samples, count(record_, "planned_noise_samples"));
      require("rule",
              !by_shares || promise_.rule == PriceRule::kFilter,
              "priced by its " + rule,
              "priced by a plan, but its budget was granted by a filter");
      require("planned samples",
              promise_.rule == PriceRule::kFilter || record_.contains("lost") ||
                  samples_ <= promise_.samples,
              fmt::format("{} drawn", samples_),
              fmt::format("{} drawn of {} planned", samples_, promise_.samples));
    }
    return {};
  }

  /// The claim against the price of what was promised: not of what had happened by the time that
  /// somebody stopped the run (privacy/promise.proof.md).
  Expected<void> prices() {
    SOTTO_ASSIGN(const std::string quoted, field<std::string>(statement_, "accountant"));
    const double budget = promise_.budget.epsilon;
    double least = kInfinity;
    std::optional<double> by_quoted;
    for (const Accountant* accountant : accountants()) {
      if (!accountant->supports(promise_.plan)) continue;
      SOTTO_ASSIGN(
          const double epsilon,
          epsilon_with_samples(promise_.plan, promise_.samples, result_.delta, *accountant));
      const bool claimed = accountant->name() == quoted;
      result_.prices.push_back({std::string(accountant->name()), epsilon, claimed});
      least = std::min(least, epsilon);
      if (claimed) by_quoted = epsilon;
    }
    require("accountant",
            by_quoted.has_value(),
            quoted + " has a theorem for these events",
            fmt::format("the record quotes {}, which has no theorem for these events", quoted));
    // Calibration leaves nothing of a budget: what does was granted by a filter, or cut.
    const bool uses_budget = by_quoted && *by_quoted >= kCalibrated * budget;
    const bool by_filter = promise_.rule == PriceRule::kFilter;
    const bool by_limit = by_filter || record_.contains("lost") ||
                          (states_no_rule_ && std::isfinite(budget) && !uses_budget);
    SOTTO_ASSIGN(const std::string denial, denied());
    result_.price = spent_.terms.empty() ? 0
                    : !denial.empty()    ? (by_filter ? kInfinity : std::max(least, budget))
                    : by_limit && std::isfinite(budget) ? budget
                    : by_limit && by_quoted             ? *by_quoted
                                                        : std::min(least, budget);
    // What a plan of the same releases would cost says nothing of a run that was held to a limit.
    if (by_filter || (by_limit && denial.empty())) result_.prices.clear();
    if (is_endless())
      add("filter", Outcome::kContradiction, "a filter without a budget grants nothing");
    const double claim = result_.claimed_epsilon;
    const std::string claimed = text_up(claim);
    const std::string of = denial.empty() && by_limit ? "the limit that it was held to"
                           : by_filter                ? "a filter whose budget nobody knows"
                                                      : "its plan";
    require("epsilon",
            claim >= result_.price * (1 - kLastDigits) - kLastDigits,
            fmt::format("claimed {}; {}: {}", claimed, of, text_up(result_.price)),
            fmt::format("claimed {}, but the run costs {}, the price of {}, however early "
                        "it stopped",
                        claimed,
                        text_up(result_.price),
                        of));
    if (!by_limit && std::isfinite(budget) && !uses_budget)
      add("calibration",
          Outcome::kFlag,
          fmt::format("the plan costs {} of a budget of {}: calibration would have used it "
                      "up. Is the plan the one that ran?",
                      text_up(by_quoted.value_or(least)),
                      budget));
    require(
        "budget",
        denial.empty() && claim <= budget * (1 + kLastDigits),
        std::isfinite(budget) ? fmt::format("within {}", budget) : "noise given by hand",
        !denial.empty() ? denial : fmt::format("claimed {} of a budget of {}", claimed, budget));
    return {};
  }

  bool is_endless() const {
    return promise_.rule == PriceRule::kFilter && !std::isfinite(promise_.budget.epsilon);
  }

  /// Why the budget can't have granted what was planned and charged; empty if it can.
  Expected<std::string> denied() const {
    const double budget = promise_.budget.epsilon;
    if (!(budget > 0)) return fmt::format("a budget of {} grants nothing", budget);
    const auto granted = check_granted(promise_, spent_, samples_);
    if (granted || is_endless()) return std::string();
    if (granted.error().kind != ErrorKind::kBadData) return tl::unexpected(granted.error());
    return with_flags(granted.error().message);
  }

  Expected<void> plan() {
    std::map<std::string, std::int64_t> left;
    for (const Term& term : promise_.plan.terms) left[to_string(term)] += term.count;
    if (record_.contains("lost")) {
      SOTTO_ASSIGN(const std::string text, field<std::string>(record_, "lost"));
      SOTTO_ASSIGN(const Event event, parse_event(text, relation_));
      SOTTO_ASSIGN(const CanonicalEvent lost, canonical(event));
      for (const Term& term : lost.terms) left[to_string(term)] += term.count;
    }
    std::string excess;
    for (const Term& term : spent_.terms)
      if ((left[to_string(term)] -= term.count) < 0)
        excess += fmt::format(
            "{}{} x {}", excess.empty() ? "" : ", ", -left[to_string(term)], to_string(term));
    require(
        "plan", excess.empty(), "covers what was charged", "charged but not planned: " + excess);
    return {};
  }

  /// What version 0.1 may have told beside its claim (docs/advisories).
  void version_01() {
    const std::string unit = statement_.value("unit", "row");
    add("version 0.1",
        Outcome::kFlag,
        "a record without a rule, as version 0.1 wrote them; it was priced anew by its plan or its "
        "filter. See docs/advisories/2026-11-models-of-0.1.md");
    add("grid",
        Outcome::kFlag,
        unit == "row"
            ? "if its table was stored sparse, or near the density at which that changes, the "
              "lattice of the model's weights may tell one row"
            : "rows were grouped by persons: the lattice of the model's weights may tell one "
              "person");
    const auto classes = record_.find("class_names");
    if (classes != record_.end() && classes->is_array() && !classes->empty())
      add("class set",
          Outcome::kFlag,
          "unless a schema declared the classes, they were read off the rows: one row's label may "
          "show");
    if (record_.contains("train_seconds"))
      add("clock", Outcome::kFlag, "it holds running times, which depend on the rows");
  }

  /// Every batch that the sampler drew must have been charged, with that sampler's amplification.
  Expected<void> drawn() {
    std::map<std::string, std::int64_t> charged;
    bool has_session = false;
    for (const Term& term : spent_.terms) {
      charged[sampling_text(term)] += term.count;
      has_session |= term.mechanism == Term::Mechanism::kSparseVector;
    }
    SOTTO_ASSIGN(const nlohmann::json batches, field<nlohmann::json>(record_, "drawn"));
    std::map<std::string, std::int64_t> drawn;
    for (const auto& batch : batches) {
      SOTTO_ASSIGN(const std::string text, field<std::string>(batch, "sampling"));
      SOTTO_ASSIGN(const std::string sampling, canonical_sampling(text));
      SOTTO_ASSIGN(const std::int64_t times, count(batch, "count"));
      if (__builtin_add_overflow(drawn[sampling], times, &drawn[sampling]))
        return out_of_range("drawn");
    }
    for (const auto& [sampling, count] : drawn) {
      const std::int64_t paid = charged[sampling];
      // One sparse-vector charge pays for a whole session of full-batch questions.
      const bool holds = count <= paid || (has_session && sampling == to_string(Sampling::full()));
      require("batches " + sampling,
              holds,
              fmt::format("{} drawn, {} charged", count, paid),
              fmt::format("{} drawn, but only {} charged: a charge was dropped, or priced with "
                          "another sampler",
                          count,
                          paid));
    }
    if (drawn.empty())
      require("batches", spent_.terms.empty(), "none drawn", "charges without any batch");
    return {};
  }

  /// As charges are written: a Poisson batch of rate 1, for example, is a full one.
  Expected<std::string> canonical_sampling(const std::string& text) const {
    std::string event = "gaussian(1)";
    if (text != to_string(Sampling::full())) {
      if (!text.ends_with(')'))
        return fail(ErrorKind::kBadData,
                    fmt::format("the run record's field 'drawn' names no sampling: '{}'.", text));
      event = text.substr(0, text.size() - 1) + ", gaussian(1))";
    }
    SOTTO_ASSIGN(const Event parsed, parse_event(event, relation_));
    SOTTO_ASSIGN(const CanonicalEvent terms, canonical(parsed));
    return terms.terms.empty() ? text : sampling_text(terms.terms.front());
  }

  static std::string sampling_text(const Term& term) {
    switch (term.sampling) {
      case Term::Sampling::kPoisson:
        return to_string(Sampling::poisson(term.rate));
      case Term::Sampling::kFixedSize:
        return to_string(Sampling::fixed_size(term.batch, term.population));
      case Term::Sampling::kFull:
        break;
    }
    return to_string(Sampling::full());
  }

  const nlohmann::json& record_;
  nlohmann::json statement_;
  Relation relation_ = Relation::kZeroOut;
  CanonicalEvent spent_;
  std::int64_t samples_ = 0;
  Promise promise_;
  bool states_no_rule_ = false;
  Verification result_;
};

}  // namespace

std::string_view to_string(RecordCheck::Outcome outcome) {
  switch (outcome) {
    case Outcome::kOk:
      return "ok";
    case Outcome::kFlag:
      return "FLAG";
    case Outcome::kContradiction:
      return "CONTRADICTION";
  }
  return "";
}

bool Verification::contradicts() const {
  return std::any_of(checks.begin(), checks.end(), [](const RecordCheck& check) {
    return check.outcome == Outcome::kContradiction;
  });
}

Expected<Verification> verify_record(const nlohmann::json& record) {
  try {
    auto result = Verifier(record).run();
    // Nobody typed what is wrong here.
    if (!result && result.error().kind == ErrorKind::kUsage)
      return fail(ErrorKind::kBadData, "the run record: " + result.error().message);
    return result;
  } catch (const nlohmann::json::exception&) {
    return fail(ErrorKind::kBadData,
                "a field of this run record is not of the kind that it should be. Is it the file "
                "that `sotto train ‘record’` wrote?");
  }
}

}  // namespace sotto
