#pragma once

// What the checks of a record share. Internal to audit/.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sotto/audit/verify.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/privacy/promise.hpp"

namespace sotto {

/// What is there and of this type; none otherwise.
template <class T>
std::optional<T> value(const nlohmann::json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  if (!object.is_object() || found == object.end()) return std::nullopt;
  try {
    return found->get<T>();
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

/// Infinity is near nothing but itself.
inline bool nearly(double a, double b) {
  const double larger = std::max(std::abs(a), std::abs(b));
  return a == b || (std::isfinite(larger) && std::abs(a - b) <= kLastDigits * larger);
}

/// An infinite one is written as null.
inline std::optional<double> price_in(const nlohmann::json& record, const char* name) {
  if (!record.is_object() || !record.contains(name)) return std::nullopt;
  if (record[name].is_null()) return std::numeric_limits<double>::infinity();
  return value<double>(record, name);
}

inline std::optional<CanonicalEvent> events_of(const nlohmann::json& object,
                                               const char* name,
                                               Relation relation) {
  const auto text = value<std::string>(object, name);
  if (!text) return std::nullopt;
  const auto event = parse_event(*text, relation);
  if (!event) return std::nullopt;
  auto terms = canonical(*event);
  return terms ? std::optional(*std::move(terms)) : std::nullopt;
}

inline bool same(const CanonicalEvent& a, const CanonicalEvent& b) {
  return within(a, b) && within(b, a);
}

/// The value of this name in a list of settings or options, as text.
inline std::optional<std::string> listed(const nlohmann::json& record,
                                         const char* list,
                                         const std::string& wanted) {
  const auto settings = value<nlohmann::json>(record, list);
  if (settings && settings->is_array())
    for (const nlohmann::json& each : *settings)
      if (value<std::string>(each, "name") == wanted) return value<std::string>(each, "value");
  return std::nullopt;
}

/// A number as the command line reads one: with a sign, or in base 16, too.
inline std::optional<double> typed_number(const std::string& text) {
  if (const auto number = number_in<double>(text)) return number;
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || end != text.c_str() + text.size()) return std::nullopt;
  return number;
}

/// A point's price in `spending`.
inline constexpr const char* kPointPrice = "epsilon_if_planned_to_end_here";

class Checks {
 public:
  void require(const std::string& name, bool holds, const std::string& if_not) {
    if (!holds) all_.push_back({name, RecordCheck::Outcome::kContradiction, if_not});
  }
  void flag(std::string name, std::string detail) {
    all_.push_back({std::move(name), RecordCheck::Outcome::kFlag, std::move(detail)});
  }
  bool contradicts() const {
    return std::any_of(all_.begin(), all_.end(), [](const RecordCheck& check) {
      return check.outcome == RecordCheck::Outcome::kContradiction;
    });
  }
  /// One line for all that agreed.
  std::vector<RecordCheck> take(const std::string& name, const std::string& if_all) {
    if (!contradicts()) all_.insert(all_.begin(), {name, RecordCheck::Outcome::kOk, if_all});
    return std::move(all_);
  }
  /// Nothing was compared: only what was found.
  std::vector<RecordCheck> take() { return std::move(all_); }

 private:
  std::vector<RecordCheck> all_;
};

/// Version 0.1 stated no rule in its records.
inline bool states_no_rule(const nlohmann::json& statement) {
  return value<std::string>(statement, "rule").value_or("").empty();
}

// verify_said.cpp

/// What every record of a run has, of version 0.2 and later: a check must not be turned off by
/// taking away what it reads.
void check_complete(const nlohmann::json& record, const nlohmann::json& statement, Checks& checks);

/// Members that no record has: somebody may take them for those that are checked.
void check_known(const nlohmann::json& record, const nlohmann::json& statement, Checks& checks);

/// The command and its options against the claim, and against each other.
void check_said(const nlohmann::json& record, const nlohmann::json& statement, Checks& checks);

// verify_options.cpp

/// The model as the options name it and as the record does.
void check_model_options(const nlohmann::json& record, Checks& checks);

/// The weights of classes that a record's options ask for, in the order of its class names; none if
/// they ask for none. An error: no run has such weights (kBadData), or they name a class in a way
/// that only the schema tells, which is in the model and not in the record (kUsage). `schema`: its
/// text, where it is known.
std::optional<Expected<std::vector<double>>> asked_class_weights(const nlohmann::json& record,
                                                                 std::size_t classes,
                                                                 const std::string& schema = "");
/// Asked for and stated, where the schema tells which class has which spelling.
void check_weights_by_schema(const nlohmann::json& record,
                             const std::string& schema,
                             Checks& checks);

// verify_settings.cpp

/// Settings that nobody gave against what preparing again makes of those that were given: defaults
/// and rules. `schema`: the text that the model carries; null: by the record alone, which does not
/// have the bound on the rows that a schema sets. Only for records of this version: other ones may
/// have had other rules.
void check_settings(const nlohmann::json& record,
                    const nlohmann::json& statement,
                    Relation relation,
                    const std::string* schema,
                    Checks& checks);

// verify_plan.cpp

/// The plan against the one that the method makes of the record's own settings.
void check_plan(const nlohmann::json& record,
                const nlohmann::json& statement,
                Relation relation,
                Checks& checks);

// verify_curve.cpp

/// What had been spent after some steps, every point priced by the function that the run priced it
/// with, and the accountant's lower bound; steps and passes of the other curves.
void check_curves(const nlohmann::json& record,
                  const nlohmann::json& statement,
                  const CanonicalEvent& spent,
                  Checks& checks);
/// The shares of a filter's budget, by the charges of its journal in their order.
void check_granted_curve(const nlohmann::json& record,
                         const nlohmann::json& statement,
                         const std::vector<Event>& granted,
                         Checks& checks);

// verify_network.cpp

/// The text of a record's network against the options, its name and its class weights among them,
/// and the number of weights that are trained.
void check_network(const nlohmann::json& record, Checks& checks);
/// The number of all weights of the network that this text describes; none if it describes none.
std::optional<std::int64_t> network_weights(const std::string& text);

}  // namespace sotto
