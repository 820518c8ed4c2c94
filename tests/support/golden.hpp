#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sotto::testing_support {

/// The rows of tests/privacy/golden/NAME.json, which NAME.py beside it writes; of one kind, if
/// given. None is a failure: a loop over nothing proves nothing.
inline std::vector<nlohmann::json> golden_rows(const std::string& name,
                                               const std::string& kind = "") {
  std::ifstream file(std::string(SOTTO_SOURCE_DIR "/tests/privacy/golden/") + name + ".json");
  std::vector<nlohmann::json> rows;
  if (file) rows = nlohmann::json::parse(file).get<std::vector<nlohmann::json>>();
  std::erase_if(rows, [&](const auto& row) { return !kind.empty() && row["kind"] != kind; });
  EXPECT_FALSE(rows.empty()) << name << ".json has no rows " << kind;
  return rows;
}

}  // namespace sotto::testing_support
