#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "sotto/data/encoding.hpp"
#include "sotto/data/io/csv_splitter.hpp"
#include "tests/support/command.hpp"
#include "tests/support/encoding_reference.hpp"
#include "tests/support/predictions.hpp"

namespace sotto::testing {

/// Names and texts that end comments, strings, statements and trigraphs, with every kind of column
/// and every rule for missing values.
inline constexpr const char* kHostile = R"([file]
header = true
missing = ["?", "", "999"]
[[column]]
name = "age"
kind = "numeric"
min = 0
max = 120
filler = 40
[[column]]
name = "lab \"x\" */ int"
kind = "numeric"
min = -5
max = 5
missing_indicator = true
[[column]]
name = "b'p; -- \\"
kind = "numeric"
min = 60
max = 200
filler = 120.5
missing_indicator = true
[[column]]
name = "plain"
kind = "numeric"
min = 0.1
max = 0.3
[[column]]
name = "select"
kind = "categorical"
values = [["a", "A'"], "b\\", "c\"; DROP TABLE \"rows\"; --", "ä*/", "NAME_x {}", "7"]
other = true
missing_indicator = true
[[column]]
name = "double"
kind = "categorical"
values = ["x??/", "y\\n", "?"]
[[column]]
names = ["f 1", "f_1", "1"]
kind = "onehot"
[[column]]
name = "note"
kind = "ignore"
[[column]]
name = "y"
kind = "label"
LABEL
)";

inline std::string hostile_schema(const std::string& label) {
  std::string text = kHostile;
  return text.replace(text.find("LABEL"), 5, label);
}
inline constexpr const char* kTwoLabel =
    "negative = [\"no\", \"n'o */ ?\?/\"]\npositive = \"y\\\"es\\\\\"";

/// Rows of hostile_schema(): all that fits, in all spellings.
class HostileRows {
 public:
  explicit HostileRows(int count, unsigned seed = 1) : random_(seed) {
    for (int i = 0; i < count; ++i) rows_.push_back(row());
  }
  static std::vector<std::string> columns() {
    return {
        "age", "lab \"x\" */ int", "b'p; -- \\", "plain", "select", "double", "f 1", "f_1", "1"};
  }
  static bool is_text(std::size_t column) { return column == 4 || column == 5; }
  const std::vector<std::vector<std::string>>& rows() const { return rows_; }
  /// With a label that follows from the row.
  std::string csv(const std::function<std::string(double)>& label) const;

 private:
  double between(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  std::string number(double low, double high, bool may_miss) {
    const double margin = 0.3 * (high - low);
    if (may_miss && between(0, 1) < 0.2) return one_of({"?", "", "999"});
    if (between(0, 1) < 0.2) return one_of({fmt::format("{}", low), fmt::format("{}", high)});
    return fmt::format("{}", between(low - margin, high + margin));
  }
  std::string one_of(const std::vector<std::string>& words) {
    return words[static_cast<std::size_t>(between(0, static_cast<double>(words.size()) - 1e-9))];
  }
  std::vector<std::string> row() {
    const int flag = static_cast<int>(between(0, 4));
    return {number(0, 120, true),
            number(-5, 5, true),
            number(60, 200, true),
            number(0.1, 0.3, false),
            one_of({"a",
                    "A'",
                    "b\\",
                    "c\"; DROP TABLE \"rows\"; --",
                    "ä*/",
                    "NAME_x {}",
                    "7",
                    "A",
                    "7.0",
                    "?",
                    "",
                    "999",
                    "unlisted ' text"}),
            one_of({"x?\?/", "y\\n", "?", "", "yn", "X?\?/", "x"}),
            flag == 0 ? "1" : "0",
            flag == 1 ? "1" : "0",
            flag == 2 ? "1.0" : "0"};
  }

  std::mt19937 random_;
  std::vector<std::vector<std::string>> rows_;
};

inline std::string HostileRows::csv(const std::function<std::string(double)>& label) const {
  std::string text;
  for (const std::string& name : columns()) {
    append_csv_field(text, name);
    text += ',';
  }
  text += "note,y\n";
  for (const auto& row : rows_) {
    double sum = 0;
    for (std::size_t j = 0; j < row.size(); ++j) {
      append_csv_field(text, row[j]);
      text += ',';
      sum += static_cast<double>(j + 1) * static_cast<double>(row[j].size() % 5) +
             (j == 0 ? plain_number(row[j]).value_or(50) / 10 : 0);
    }
    text += "n,";
    append_csv_field(text, label(sum));
    text += '\n';
  }
  return text;
}

/// The rows as numbers and texts for programs that have types: null where nothing is there.
inline nlohmann::json typed_rows(const HostileRows& rows) {
  auto table = nlohmann::json::array();
  for (const auto& row : rows.rows()) {
    auto line = nlohmann::json::array();
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (HostileRows::is_text(j))
        line.push_back(row[j]);
      else if (row[j] == "999")  // missing, by its spelling
        line.push_back(999.0);
      else if (const auto value = plain_number(row[j]))
        line.push_back(*value);
      else
        line.push_back(nullptr);
    }
    table.push_back(line);
  }
  return table;
}

/// What is said of a row: by predict, or by another program.
struct Answer {
  std::string guess;            ///< class or number
  std::vector<double> numbers;  ///< probabilities, or the number itself
};

/// `sotto predict --proba` of a classifier with probabilities, or `sotto predict` of numbers.
inline std::vector<Answer> predicted_answers(const std::string& rows,
                                             const std::string& model,
                                             bool probabilities) {
  const TempDir dir;
  const auto run = sotto(Words{"predict", rows, model, dir.file("out.csv")} +
                         (probabilities ? Words{"--proba"} : Words{}));
  EXPECT_EQ(run.code, 0) << run.err;
  std::vector<Answer> answers;
  constexpr std::size_t kMost = 1000;
  CsvSplitter splitter(',', kMost, kMost);
  for (const std::string& line : lines_of(TempDir::read(dir.file("out.csv")))) {
    EXPECT_TRUE(splitter.split(line)) << line;
    const auto fields = splitter.fields();
    Answer& answer = answers.emplace_back();
    answer.guess = fields[1];
    for (std::size_t k = probabilities ? 2 : 1; k < fields.size(); ++k)
      answer.numbers.push_back(plain_number(fields[k]).value_or(NAN));
  }
  answers.erase(answers.begin());
  return answers;
}

/// Lines of tabs: numbers, then the class, if there is one.
inline std::vector<Answer> answers_in(const std::string& text, bool classes) {
  std::vector<Answer> answers;
  for (const std::string& line : lines_of(text)) {
    Answer& answer = answers.emplace_back();
    std::istringstream stream(line);
    for (std::string field; std::getline(stream, field, '\t');) {
      answer.guess = field;
      if (field == "nan" || field == "-nan") field = "NULL";
      answer.numbers.push_back(plain_number(field).value_or(NAN));
    }
    if (classes) answer.numbers.pop_back();
  }
  return answers;
}

inline void expect_same(const std::vector<Answer>& found,
                        const std::vector<Answer>& expected,
                        double tolerance,
                        bool classes) {
  ASSERT_EQ(found.size(), expected.size());
  ASSERT_FALSE(expected.empty());
  for (std::size_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE(i);
    if (classes) {
      ASSERT_EQ(found[i].guess, expected[i].guess);
    }
    ASSERT_EQ(found[i].numbers.size(), expected[i].numbers.size());
    for (std::size_t k = 0; k < found[i].numbers.size(); ++k)
      ASSERT_NEAR(found[i].numbers[k],
                  expected[i].numbers[k],
                  tolerance * std::max(1e-3, std::abs(expected[i].numbers[k])));
  }
}

/// A model that is trained and deployed in every way.
struct DeployCase {
  const char* name;
  const char* label;  ///< of the schema
  std::vector<std::string> (*classes)();
  Words options;
  bool probabilities;
  bool network;  ///< predict computes in float32
  bool recalibrated = false;
};

inline std::vector<std::string> two_classes() { return {"n'o */ ?\?/", "y\"es\\"}; }
inline std::vector<std::string> three_classes() { return {"low", "mid'", "high\""}; }
inline std::vector<std::string> no_classes() { return {}; }

inline std::vector<DeployCase> deploy_cases() {
  constexpr const char* kThree = "classes = [\"low\", [\"mid'\", \"m\"], \"high\\\"\"]";
  constexpr const char* kNumber = "min = 0\nmax = 100";
  return {
      {"logistic", kTwoLabel, two_classes, {"--method gd"}, true, false},
      {"shrunk", kTwoLabel, two_classes, {"--method gd --row-norm 1.5"}, true, false},
      {"no_intercept",
       kTwoLabel,
       two_classes,
       {"--method gd --no-bias --row-norm 1.4"},
       true,
       false},
      {"recalibrated", kTwoLabel, two_classes, {"--method gd --row-norm 1.8"}, true, false, true},
      {"sigmoid", kTwoLabel, two_classes, {"--method gd --loss sigmoid"}, false, false},
      {"multinomial", kThree, three_classes, {"--method gd --loss multinomial"}, true, true},
      {"mlp", kThree, three_classes, {"--method gd --model mlp:7,5"}, true, true},
      {"mlp_two", kTwoLabel, two_classes, {"--method gd --model mlp:5"}, true, true},
      {"squared", kNumber, no_classes, {"--method gd --loss squared"}, false, false},
      {"poisson", kNumber, no_classes, {"--method gd --loss poisson:50"}, false, false},
      {"mlp_number",
       kNumber,
       no_classes,
       {"--method gd --model mlp:4 --loss squared --step-size 0.002"},
       false,
       true}};
}

/// What the schema's newer keys mean, whether or not they can be read yet.
inline Encoding every_form(bool with_date, bool with_code = true) {
  Schema schema;
  schema.missing = {"?", "-1"};
  const auto column = [&](const char* name, Schema::Kind kind, double min, double max) {
    Schema::Column result;
    result.name = name;
    result.kind = kind;
    result.min = min;
    result.max = max;
    return result;
  };
  using Kind = Schema::Kind;
  Schema::Column log = column("log", Kind::kNumeric, 0, 1000);
  log.scale = Schema::Column::Scale::kLog1p;
  log.filler = 7;
  Schema::Column bins = column("bins", Kind::kNumeric, -INFINITY, INFINITY);
  bins.edges = {-10, 0.5, 30};
  bins.missing_indicator = true;
  Schema::Column filled = bins;
  filled.name = "filled";
  filled.filler = 0.5;
  Schema::Column date = column("date", Kind::kNumeric, 0, 30000);
  date.date = "%Y-%m-%d";
  Schema::Column code = column("code", Kind::kCategorical, 0, 0);
  code.values = {{"AbC", "é9"}, {"250", "heart"}, {"x"}};
  code.ignore_case = true;
  code.prefix = 3;
  code.ranges = {{1, 250, 259.5}, {2, -5, 10}, {0, 5, 300}};
  code.other = code.missing_indicator = true;
  schema.columns = {log, bins, filled};
  if (with_code) schema.columns.push_back(code);
  if (with_date) schema.columns.push_back(date);
  return encoding_of(schema);
}

/// Fields for its columns, in its order.
inline std::vector<std::vector<Field>> form_fields() {
  return {
      {"0", "3.5", "1000", "2e6", "-0.5", "?", std::nullopt, "-1"},
      {"-10", "-11", "0.49999", "0.5", "29", "30", "1e9", "?", "-1", std::nullopt},
      {"-10", "31", "?", "0.25"},
      {"abc", "ABCD", "É9x", "é9", "250.9", "259.5",      "25",  "9.5",   "+7",  "-5", "-1", "?",
       "x",   "xa",   "",    ".",  "-.5",   std::nullopt, "HEA", "heart", "299", "2-", "2."},
      {"1970-01-01",
       "2024-02-29",
       "2023-02-29",
       "1969-12-31",
       "2100-13-01",
       "1999-12-31",
       "1999-12-3x",
       "2000-03-01"}};
}

/// A trained case with rows to try it on.
class DeployedModel {
 public:
  explicit DeployedModel(const DeployCase& which) : which_(which), rows_(300, 2) {
    const auto label = [&](double sum) {
      const auto names = which.classes();
      if (names.empty()) return fmt::format("{}", std::fmod(sum, 40));
      return names[static_cast<std::size_t>(sum / 7) % names.size()];
    };
    const std::string train = dir_.write("train.csv", HostileRows(400).csv(label));
    data_ = dir_.write("rows.csv", rows_.csv(label));
    const auto run = sotto(
        Words{"train --steps 60", "--schema", dir_.write("s.toml", hostile_schema(which.label))} +
        which.options + Words{train, dir_.file("model.json")});
    EXPECT_EQ(run.code, 0) << run.err;
    if (!which.recalibrated) return;
    const auto more =
        sotto({"recalibrate --method intercept", data_, model(), dir_.file("r.json")});
    EXPECT_EQ(more.code, 0) << more.err;
    recalibrated_ = true;
  }
  std::string model() const { return dir_.file(recalibrated_ ? "r.json" : "model.json"); }
  std::string file(const std::string& name) const { return dir_.file(name); }
  const TempDir& dir() const { return dir_; }
  const HostileRows& rows() const { return rows_; }
  std::size_t class_count() const { return which_.classes().size(); }
  bool classes() const { return !which_.classes().empty(); }
  std::vector<Answer> expected() const {
    auto answers = predicted_answers(data_, model(), which_.probabilities);
    // Of a classifier without probabilities, the score.
    for (Answer& answer : answers)
      if (classes() && !which_.probabilities) answer.numbers.erase(answer.numbers.begin());
    // Otherwise any program would be right.
    EXPECT_FALSE(std::all_of(answers.begin(), answers.end(), [&](const Answer& answer) {
      return answer.guess == answers.front().guess;
    }));
    return answers;
  }
  /// In the same order and form as the answers: `linear` for linear models.
  double tolerance(double linear) const { return which_.network ? 2e-6 : linear; }

 private:
  DeployCase which_;
  TempDir dir_;
  HostileRows rows_;
  std::string data_;
  bool recalibrated_ = false;
};

/// For TEST_P: the case's name.
inline std::string case_name(const ::testing::TestParamInfo<std::size_t>& info) {
  return deploy_cases()[info.param].name;
}

}  // namespace sotto::testing
