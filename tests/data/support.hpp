#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/data/table.hpp"
#include "tests/support/gzip.hpp"

namespace sotto::test {

/// A directory of its own for each test, removed at the end.
class DataTest : public ::testing::Test {
 protected:
  DataTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sotto-data-XXXXXX").string();
    directory_ = mkdtemp(pattern.data());
  }
  ~DataTest() override { std::filesystem::remove_all(directory_); }

  std::string path(const std::string& name) const { return (directory_ / name).string(); }

  std::string write(const std::string& name, std::string_view content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }

 private:
  std::filesystem::path directory_;
};

inline std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

using testing::gzip;

/// Row i as plain numbers, whatever the layout.
inline std::vector<float> row_of(const Table& table, std::int64_t i) {
  std::vector<float> row(static_cast<std::size_t>(table.dim()));
  if (!table.sparse()) {
    std::copy_n(table.row(i), table.dim(), row.begin());
    return row;
  }
  const auto offsets = table.offsets();
  const auto at = [&](std::int64_t k) {
    return static_cast<std::size_t>(offsets[static_cast<std::size_t>(k)]);
  };
  for (std::size_t k = at(i); k < at(i + 1); ++k)
    row[static_cast<std::size_t>(table.columns()[k])] = table.values()[k];
  return row;
}

/// Everything that a table holds, for comparisons.
inline std::vector<double> content(const Table& table) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < table.rows(); ++i) {
    for (const float value : row_of(table, i)) all.push_back(static_cast<double>(value));
    all.push_back(static_cast<double>(table.labels()[static_cast<std::size_t>(i)]));
    all.push_back(table.norms()[static_cast<std::size_t>(i)]);
  }
  for (std::int64_t u = 0; u <= table.units(); ++u)
    all.push_back(static_cast<double>(table.unit_begin(u)));
  return all;
}

}  // namespace sotto::test

/// The call must fail with this kind and a message that contains the text.
#define EXPECT_FAILS(call, expected_kind, text)                                    \
  do {                                                                             \
    const auto failed_result = (call);                                             \
    ASSERT_FALSE(failed_result.has_value()) << "no error: " #call;                 \
    EXPECT_EQ(failed_result.error().kind, expected_kind);                          \
    EXPECT_NE(failed_result.error().message.find(text), std::string::npos)         \
        << "message: " << failed_result.error().message << "\nexpected: " << text; \
  } while (false)
