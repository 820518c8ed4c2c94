#include "sotto/audit/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/privacy/sampling.hpp"

namespace sotto {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Accountants on another processor may differ in the last digits.
constexpr double kSlack = 1e-9;

using Outcome = RecordCheck::Outcome;

template <class T>
Expected<T> field(const nlohmann::json& json, const char* name) {
  try {
    return json.at(name).get<T>();
  } catch (const nlohmann::json::exception&) {
    return fail(ErrorKind::kBadData,
                fmt::format("the run record has no usable field '{}'. Is it the file that "
                            "`sotto train --record` wrote?",
                            name));
  }
}

/// null stands for infinity.
Expected<double> number(const nlohmann::json& json, const char* name) {
  const auto found = json.find(name);
  if (found != json.end() && found->is_null()) return kInfinity;
  return field<double>(json, name);
}

class Verifier {
 public:
  explicit Verifier(const nlohmann::json& record) : record_(record) {}

  Expected<Verification> run() {
    if (!record_.is_object() || record_.value("sotto_run", 0) != 1)
      return fail(ErrorKind::kBadData,
                  "this is not a run record of version 1. `sotto train --record FILE` writes one.");
    SOTTO_ASSIGN(result_.is_private, field<bool>(record_, "private"));
    SOTTO_ASSIGN(result_.claimed_epsilon, number(record_, "epsilon_spent"));
    SOTTO_ASSIGN(result_.delta, field<double>(record_, "delta"));
    flags();
    if (!result_.is_private) {
      add("claim", Outcome::kFlag, "the run claims no privacy; there is nothing to verify");
      return result_;
    }
    SOTTO_TRY(statement());
    SOTTO_TRY(price());
    SOTTO_TRY(plan());
    SOTTO_TRY(drawn());
    return result_;
  }

 private:
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
            fmt::format("the record claims ({:g}, {:g}), its privacy statement ({:g}, {:g})",
                        result_.claimed_epsilon,
                        result_.delta,
                        epsilon,
                        delta));
    SOTTO_ASSIGN(const std::string events, field<std::string>(statement_, "events"));
    SOTTO_ASSIGN(const Event spent, parse_event(events, relation_));
    SOTTO_ASSIGN(spent_, canonical(spent));
    return {};
  }

  Expected<void> price() {
    SOTTO_ASSIGN(const std::string quoted, field<std::string>(statement_, "accountant"));
    SOTTO_ASSIGN(const std::int64_t samples, field<std::int64_t>(statement_, "noise_samples"));
    double least = kInfinity;
    std::optional<double> by_quoted;
    for (const Accountant* accountant : accountants()) {
      if (!accountant->supports(spent_)) continue;
      SOTTO_ASSIGN(const double epsilon,
                   epsilon_with_samples(spent_, samples, result_.delta, *accountant));
      const bool claimed = accountant->name() == quoted;
      result_.prices.push_back({std::string(accountant->name()), epsilon, claimed});
      least = std::min(least, epsilon);
      if (claimed) by_quoted = epsilon;
    }
    const double claim = result_.claimed_epsilon;
    require("accountant",
            by_quoted.has_value(),
            quoted + " has a theorem for these events",
            fmt::format("the record quotes {}, which has no theorem for these events", quoted));
    require("epsilon",
            claim >= least * (1 - kSlack) - kSlack,
            fmt::format("claimed {:.6g}, the tightest accountant says {:.6g}", claim, least),
            fmt::format("claimed {:.6g}, but the recorded events cost {:.6g} by the tightest "
                        "accountant",
                        claim,
                        least));
    SOTTO_ASSIGN(const double budget, number(record_, "epsilon_budget"));
    require("budget",
            claim <= budget * (1 + kSlack),
            std::isfinite(budget) ? fmt::format("within {:g}", budget) : "noise given by hand",
            fmt::format("spent {:.6g} of a budget of {:.6g}", claim, budget));
    std::int64_t releases = 0;
    for (const Term& term : spent_.terms) releases += term.count;
    require("noise samples",
            samples >= releases,
            fmt::format("{} for {} releases", samples, releases),
            fmt::format("only {} for {} releases", samples, releases));
    return {};
  }

  Expected<void> plan() {
    SOTTO_ASSIGN(const std::string text, field<std::string>(record_, "plan"));
    SOTTO_ASSIGN(const Event event, parse_event(text, relation_));
    SOTTO_ASSIGN(const CanonicalEvent planned, canonical(event));
    std::map<std::string, std::int64_t> left;
    for (const Term& term : planned.terms) left[to_string(term)] += term.count;
    std::string excess;
    for (const Term& term : spent_.terms)
      if ((left[to_string(term)] -= term.count) < 0)
        excess += fmt::format(
            "{}{} x {}", excess.empty() ? "" : ", ", -left[to_string(term)], to_string(term));
    require(
        "plan", excess.empty(), "covers what was charged", "charged but not planned: " + excess);
    return {};
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
      SOTTO_ASSIGN(const std::int64_t count, field<std::int64_t>(batch, "count"));
      drawn[sampling] += count;
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
  return Verifier(record).run();
}

}  // namespace sotto
