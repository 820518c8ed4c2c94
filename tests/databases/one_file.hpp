#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "sotto/data/load.hpp"
#include "tests/databases/database.hpp"
#include "tests/support/predictions.hpp"

namespace sotto::testing {

/// A SQLite file with a table of 100 rows.
class OneFile : public ::testing::Test {
 protected:
  static constexpr const char* kNumbers = R"([[column]]
name = "x"
kind = "numeric"
min = 0
max = 10
filler = 5
[[column]]
name = "c"
kind = "categorical"
values = ["A", "7"]
[[column]]
name = "y"
kind = "label"
positive = ["1"]
negative = ["0"]
)";

  OneFile() : database_(sqlite_database(dir_.file("d.db"))) {
    schema_ = dir_.write("s.toml", kNumbers);
    database_->run("CREATE TABLE t (x real, c text, y integer)");
    std::string sql;
    for (int k = 0; k < 100; ++k)
      sql += fmt::format("INSERT INTO t VALUES ({}, 'A', {});", k / 10.0, k % 2);
    database_->run(sql);
  }
  std::string file(const std::string& name) const { return dir_.file(name); }
  Words training(const std::string& model) const {
    return {"train --seed 1 --epsilon 1 --delta 1e-5 --quiet --schema",
            schema_,
            database_->path("t"),
            file(model)};
  }
  Expected<Dataset> load(const std::string& path) const {
    LoadOptions options;
    options.path = path;
    options.schema = schema_;
    return load_table(options);
  }

  TempDir dir_;
  std::unique_ptr<TestDatabase> database_;
  std::string schema_;
};

}  // namespace sotto::testing
