#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sotto/core/error.hpp"
#include "sotto/optimizer/registry.hpp"
#include "sotto/privacy/neighbours.hpp"

namespace sotto {

/// A run as its record describes it: all that its method was configured with. Nothing is opened and
/// nothing is read but the record.
struct RecordedRun {
  std::string method_name;             ///< what `auto` chose
  const MethodInfo* method = nullptr;  ///< null: not in this program
  PublicFacts facts;
  GivenOptions settings;  ///< all of them, so that none follows from a rule
  double noise_multiplier = 0;
};

/// True if the record has the members that recorded_run reads, whatever their values.
bool describes_its_run(const nlohmann::json& record);

/// kBadData, with a sentence, where a number is out of range. `record` describes its run.
Expected<RecordedRun> recorded_run(const nlohmann::json& record, Relation relation);

}  // namespace sotto
