#pragma once

// A table in a database of its own at the tests' server, and commands that read it.

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/databases/database.hpp"
#include "tests/support/predictions.hpp"

namespace sotto::testing {

/// Of the table `t`, which has 100 rows.
inline constexpr const char* kOne = R"([[column]]
name = "x"
kind = "numeric"
min = 0
max = 10
[[column]]
name = "c"
kind = "categorical"
values = ["A", "t"]
[[column]]
name = "y"
kind = "label"
positive = ["t"]
negative = ["f"]
)";

class PostgresServer : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why_not;
    database_ = postgres_database(why_not);
    if (!database_) GTEST_SKIP() << why_not;
    schema_ = dir_.write("s.toml", kOne);
    database_->run(
        "CREATE TABLE t AS SELECT i / 10.0 AS x, 'A'::char(5) AS c, i % 2 = 0 AS y "
        "FROM generate_series(1, 100) i");
  }
  std::string file(const std::string& name) const { return dir_.file(name); }
  /// `sotto train` on these rows, with further words of a shell before it.
  CommandResult train(const std::string& path, const std::string& environment = "") const {
    return sotto(
        {"train --epsilon 1 --delta 1e-5 --quiet --again --schema", schema_, path, file("m.json")},
        environment);
  }
  /// The path with other words for the server than the user's own.
  std::string with(const std::string& from, const std::string& to) const {
    std::string path = database_->path("t");
    return path.replace(path.find(from), from.size(), to);
  }

  /// Scores of rows, by a model that is trained first.
  CommandResult predict(const std::string& from,
                        const std::string& to,
                        const Words& more = {},
                        const std::string& environment = "") {
    if (!std::filesystem::exists(file("m.json"))) {
      EXPECT_EQ(train(database_->path("t")).code, 0);
    }
    return sotto(Words{"predict"} + more + Words{from, file("m.json"), to}, environment);
  }

  TempDir dir_;
  std::unique_ptr<TestDatabase> database_;
  std::string schema_;
};

}  // namespace sotto::testing
