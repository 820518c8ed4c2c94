#pragma once

#include <filesystem>
#include <string>

#include "tests/support/words.hpp"

namespace sotto::testing {

/// Path of a file among the shared data sets; empty where they are missing.
inline std::string shared_data(const std::string& name) {
  const std::filesystem::path path = std::filesystem::path(SOTTO_SHARED_DIR) / "data" / name;
  return std::filesystem::exists(path) ? path.string() : "";
}

/// For `train`: a9a, its test rows and the settings of the published figures, without the model.
inline Words a9a_words() {
  return {
      "--method dp-gd --loss logistic --regularizer nonconvex:1e-3 --dim 123 --row-norm 3.7417 "
      "--epsilon 0.2 --delta 1e-5 --neighbours replace-one --test",
      shared_data("libsvm/a9a.t.gz"),
      shared_data("libsvm/a9a.gz")};
}

}  // namespace sotto::testing

/// Skips the test, saying so, where the shared data sets are missing.
#define SOTTO_NEEDS_DATA(name)                     \
  if (::sotto::testing::shared_data(name).empty()) \
  GTEST_SKIP() << "skipped: no shared data set " << (name)
