#pragma once

#include <filesystem>
#include <string>

namespace sotto::testing {

/// Path of a file among the shared data sets; empty where they are not at hand.
inline std::string shared_data(const std::string& name) {
  const std::filesystem::path path = std::filesystem::path(SOTTO_SHARED_DIR) / "data" / name;
  return std::filesystem::exists(path) ? path.string() : "";
}

}  // namespace sotto::testing

/// Skips the test, saying so, where the shared data sets are not at hand.
#define SOTTO_NEEDS_DATA(name)                     \
  if (::sotto::testing::shared_data(name).empty()) \
  GTEST_SKIP() << "skipped: no shared data set " << (name)
