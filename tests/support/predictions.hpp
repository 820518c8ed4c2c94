#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/command.hpp"

namespace sotto::testing {

/// Not std::quoted.
inline std::string in_quotes(const std::string& path) { return ::sotto::testing::quoted(path); }

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Of lines without quotes.
inline std::vector<std::string> column(const std::string& text, const std::string& name) {
  std::vector<std::string> values;
  std::size_t place = 0;
  for (const std::string& line : lines_of(text)) {
    std::vector<std::string> fields;
    std::istringstream stream(line);
    for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
    if (values.empty()) {
      const auto found = std::find(fields.begin(), fields.end(), name);
      EXPECT_NE(found, fields.end()) << name << " in " << line;
      if (found == fields.end()) return {};
      place = static_cast<std::size_t>(found - fields.begin());
    }
    values.push_back(fields.at(place));
  }
  values.erase(values.begin());
  return values;
}

/// Patients with stays: the guarantee is a patient's.
inline constexpr const char* kStays = R"([file]
header = true
missing = ["?", ""]
[[column]]
name = "patient_nbr"
kind = "unit"
[[column]]
name = "encounter_id"
kind = "ignore"
[[column]]
name = "age"
kind = "numeric"
min = 0
max = 100
[[column]]
name = "readmitted"
kind = "label"
positive = "<30"
negative = ["NO", ">30"]
)";

class Predictions : public ::testing::Test {
 protected:
  Predictions() {
    std::string rows = "encounter_id,patient_nbr,age,readmitted\n";
    for (int i = 0; i < 90; ++i)
      rows += "e" + std::to_string(i) + ",p" + std::to_string(i % 30) + "," +
              std::to_string(i % 3 == 0 ? 90 : 20) +
              (i % 3 == 0   ? ",<30\n"
               : i % 3 == 1 ? ",NO\n"
                            : ",>30\n");
    rows_ = dir_.write("stays.csv", rows);
    schema_ = dir_.write("stays.toml", kStays);
    model_ = file("model.json");
    const auto run = sotto({"train --method gd --bias --schema", schema_, rows_, model_});
    EXPECT_EQ(run.code, 0) << run.err;
  }

  std::string file(const std::string& name) const { return dir_.file(name); }
  /// New patients: no label, no person, a column more, and ages that order them: e2, e3, e1, e0.
  std::string new_patients() const {
    return dir_.write("new.csv",
                      "age,ward,encounter_id\n10,A,e0\n50,\"B, left\",e1\n90,\"the \"\"C\"\"\",e2\n"
                      "70,D,e3\n");
  }
  std::string predicted(const Words& more, const std::string& rows) const {
    const auto run = sotto(Words{"predict", rows, model_, file("out.csv")} + more);
    EXPECT_EQ(run.code, 0) << run.err;
    return TempDir::read(file("out.csv"));
  }

  TempDir dir_;
  std::string rows_, schema_, model_;
};

}  // namespace sotto::testing
