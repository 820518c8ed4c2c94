#pragma once

// What the checks of a record share. Internal to audit/.

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sotto/audit/verify.hpp"
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

inline bool nearly(double a, double b) {
  return a == b || std::abs(a - b) <= kLastDigits * std::max(std::abs(a), std::abs(b));
}

class Checks {
 public:
  void require(const std::string& name, bool holds, const std::string& if_not) {
    if (!holds) all_.push_back({name, RecordCheck::Outcome::kContradiction, if_not});
  }
  void flag(std::string name, std::string detail) {
    all_.push_back({std::move(name), RecordCheck::Outcome::kFlag, std::move(detail)});
  }
  /// One line for all that agreed.
  std::vector<RecordCheck> take(const std::string& name, const std::string& if_all) {
    const bool all = std::none_of(all_.begin(), all_.end(), [](const RecordCheck& check) {
      return check.outcome == RecordCheck::Outcome::kContradiction;
    });
    if (all) all_.insert(all_.begin(), {name, RecordCheck::Outcome::kOk, if_all});
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

/// The command and its options against the claim, and against each other.
void check_said(const nlohmann::json& record, const nlohmann::json& statement, Checks& checks);

}  // namespace sotto
