#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sotto/core/error.hpp"

namespace sotto {

/// One thing that a run record says, held against another.
struct RecordCheck {
  enum class Outcome { kOk, kFlag, kContradiction };
  std::string name;
  Outcome outcome = Outcome::kOk;
  std::string detail;
};
std::string_view to_string(RecordCheck::Outcome outcome);

/// What an accountant says of the plan, at the record's delta and with its noise samples. None for
/// a run that was held to a limit (a filter's budget) instead.
struct Repriced {
  std::string accountant;
  double epsilon = 0;
  bool claimed = false;  ///< the record quotes this accountant
};

struct Verification {
  bool is_private = false;  ///< with a known seed: as long as nobody knows it
  bool is_seeded = false;
  double claimed_epsilon = 0;
  double delta = 0;
  /// What the run costs by its own rule: the price of its plan, or its filter's budget. For records
  /// of version 0.1, which state no rule, this restates their claim.
  double price = 0;
  std::vector<Repriced> prices;
  std::vector<RecordCheck> checks;

  bool contradicts() const;
};

/// Checks a run record (`sotto train --record`): what was promised is priced anew by every
/// accountant that has a theorem for it, the plan must cover what was charged, every batch that was
/// really drawn must have been charged for, and the relation must be the same everywhere. Reads no
/// data. What can't be read as a record at all is a bad-data error; what doesn't fit is a
/// contradiction.
Expected<Verification> verify_record(const nlohmann::json& record);

}  // namespace sotto
