#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sotto/record/run_record.hpp"

namespace sotto {

/// The file format (docs/reference/run_record.md), version 1; later fields are optional for
/// readers.
nlohmann::json to_json(const RunRecord& record);

}  // namespace sotto
