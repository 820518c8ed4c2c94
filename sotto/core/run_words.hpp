#pragma once

#include <string>
#include <string_view>

#include "sotto/core/names.hpp"

namespace sotto {

/// Where a setting of a run came from: its user, the option's default, or a rule that looked at
/// public facts.
enum class Origin { kGiven, kDefault, kRule };
inline constexpr Named<Origin> kOrigins[] = {
    {Origin::kGiven, "given"}, {Origin::kDefault, "default"}, {Origin::kRule, "rule"}};
constexpr std::string_view to_string(Origin origin) { return name_of(origin, kOrigins); }

struct Setting {
  std::string name;
  std::string value;
  Origin origin = Origin::kDefault;
  std::string group = {};  ///< e.g. `Privacy`; empty for the method's own
};

/// Why a run made no further step.
enum class StopReason { kPlanComplete, kStoppedEarly, kBudgetSpent, kPointFound };
inline constexpr Named<StopReason> kStopReasons[] = {
    {StopReason::kPlanComplete, "plan complete"},
    {StopReason::kStoppedEarly, "stopped early"},
    {StopReason::kBudgetSpent, "budget spent"},
    {StopReason::kPointFound, "second-order point found"}};
constexpr std::string_view to_string(StopReason why) { return name_of(why, kStopReasons); }

}  // namespace sotto
