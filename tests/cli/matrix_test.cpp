// Every format x family x verb on ten made-up rows: what one of them can do all of them can, or
// say in one sentence why not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/array_files.hpp"
#include "tests/support/command.hpp"

namespace sotto::testing {
namespace {

using ::testing::HasSubstr;

constexpr int kRows = 10;

/// Rows of two classes in one format: training rows, public test rows, and what is declared.
struct Rows {
  std::string train, test;
  Words declared;
};

double feature(int row, int column) { return 0.1 * ((7 * row + 3 * column) % 10) - 0.4; }

Rows libsvm(const TempDir& dir) {
  std::string text;
  for (int i = 0; i < kRows; ++i) {
    text += i % 2 ? "+1" : "-1";
    for (int j = 0; j < 3; ++j)
      text += " " + std::to_string(j + 1) + ":" + std::to_string(feature(i, j));
    text += "\n";
  }
  // Test rows without the last feature: a file does not say how many there are.
  return {dir.write("rows.svm", text),
          dir.write("test.svm", "+1 1:0.5\n-1 2:0.5\n"),
          {"--dim 3 --classes -1,1"}};
}

Rows csv(const TempDir& dir) {
  std::string text = "age,kind,outcome\n";
  for (int i = 0; i < kRows; ++i)
    text += std::to_string(20 + 5 * i) + (i % 3 ? ",a" : ",b") + (i % 2 ? ",yes\n" : ",no\n");
  const std::string schema =
      dir.write("schema.toml",
                "[file]\nheader = true\n"
                "[[column]]\nname = \"age\"\nkind = \"numeric\"\nmin = 0\nmax = 100\n"
                "[[column]]\nname = \"kind\"\nkind = \"categorical\"\nvalues = [\"a\", \"b\"]\n"
                "[[column]]\nname = \"outcome\"\nkind = \"label\"\n"
                "positive = [\"yes\"]\nnegative = [\"no\"]\n");
  return {dir.write("rows.csv", text), dir.write("test.csv", text), {"--schema", schema}};
}

/// Persons of one or two rows; test rows without them, and with a column that nobody declared.
Rows persons(const TempDir& dir) {
  Rows rows = csv(dir);
  std::string text = "who,age,kind,outcome\n", test = "outcome,kind,ward,age\n";
  for (int i = 0; i < kRows; ++i) {
    const std::string outcome = i % 2 ? "yes" : "no";
    const std::string age = std::to_string(20 + 5 * i), kind = i % 3 ? "a" : "b";
    text += "p" + std::to_string(2 * i / 3) + "," + age + "," + kind + "," + outcome + "\n";
    test += outcome + "," + kind + ",7," + age + "\n";
  }
  const std::string schema =
      TempDir::read(dir.file("schema.toml")) + "[[column]]\nname = \"who\"\nkind = \"unit\"\n";
  return {dir.write("rows.csv", text),
          dir.write("test.csv", test),
          {"--schema", dir.write("persons.toml", schema)}};
}

Rows few_rows(const TempDir& dir) {
  Rows rows = persons(dir);
  rows.declared += "--most-rows 1";
  return rows;
}

Rows numpy(const TempDir& dir) {
  std::vector<float> x, y;
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < 3; ++j) x.push_back(static_cast<float>(feature(i, j)));
    y.push_back(static_cast<float>(i % 2));
  }
  const auto pair = [&](const std::string& name) {
    return dir.write(name + "x.npy", npy_header("<f4", "(10, 3)") + bytes_of(x)) + "," +
           dir.write(name + "y.npy", npy_header("<f4", "(10,)") + bytes_of(y));
  };
  return {pair(""), pair("t"), {"--classes 0,1"}};
}

Rows idx_images(const TempDir& dir) {
  std::string pixels, labels;
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < 4; ++j) pixels += static_cast<char>(20 * i + 11 * j);
    labels += static_cast<char>(i % 2);
  }
  const auto pair = [&](const std::string& name) {
    return dir.write(name + "x-idx3-ubyte", idx_file({kRows, 2, 2}, pixels)) + "," +
           dir.write(name + "y-idx1-ubyte", idx_file({kRows}, labels));
  };
  return {pair(""), pair("t"), {"--classes 0,1"}};
}

Rows cifar(const TempDir& dir) {
  std::string text;
  for (int i = 0; i < kRows; ++i) {
    text += static_cast<char>(i % 2);
    for (int j = 0; j < 3072; ++j) text += static_cast<char>((i + j) % 200);
  }
  return {
      dir.write("data_batch_1.bin", text), dir.write("test_batch.bin", text), {"--classes 0,1"}};
}

struct Format {
  const char* name;
  Rows (*write)(const TempDir&);
};
struct FamilyCase {
  const char* name;
  Words words;
};

const std::vector<Format> kFormats = {{"libsvm", libsvm},
                                      {"csv", csv},
                                      {"persons", persons},
                                      {"few_rows", few_rows},
                                      {"npy", numpy},
                                      {"idx", idx_images},
                                      {"cifar10", cifar}};
const std::vector<FamilyCase> kFamilies = {
    {"linear", {"--method dp-gd --row-norm 1"}},
    {"linear_without_bias", {"--method dp-gd --row-norm 1 --no-bias"}},
    {"weighted", {"--method dp-gd --row-norm 1 --class-weight positive=3"}},
    {"multinomial", {"--method dp-sgd --loss multinomial"}},
    {"softmax", {"--method dp-sgd --model softmax"}},
    {"hidden_layer", {"--method dp-sgd --model mlp:3 --class-weight negative=2"}}};

class Matrix : public ::testing::TestWithParam<std::tuple<int, int>> {
 protected:
  const Format& format() const {
    return kFormats[static_cast<std::size_t>(std::get<0>(GetParam()))];
  }
  const FamilyCase& family() const {
    return kFamilies[static_cast<std::size_t>(std::get<1>(GetParam()))];
  }
  TempDir dir_;
};

TEST_P(Matrix, EveryVerbTakesIt) {
  const Rows rows = format().write(dir_);
  const Words how = family().words + rows.declared;
  const Words budget = "--epsilon 1 --delta 1e-3 --steps 3";
  const std::string model = dir_.file("model.json"), record = dir_.file("record.json");
  const auto works = [](const Words& words) {
    const auto result = sotto(words);
    EXPECT_EQ(result.code, 0) << ::testing::PrintToString(words) << result.err;
    return result;
  };

  works("train --dry-run --public-n 10" + budget + how +
        (format().name == std::string("libsvm") || rows.train.ends_with(".csv")
             ? Words{}
             : Words{"--dim",
                     format().name == std::string("npy")   ? "3"
                     : format().name == std::string("idx") ? "4"
                                                           : "3072"}));
  const auto trained = works(Words{"train --test", rows.test, "--record", record} + budget + how +
                             Words{rows.train, model});
  EXPECT_THAT(trained.out, HasSubstr("Accuracy = "));
  EXPECT_THAT(trained.out, HasSubstr("AUC "));

  // The model knows its classes, features and schema: nothing is declared again.
  const auto predicted = works({"predict", rows.test, model, dir_.file("p")});
  EXPECT_THAT(predicted.out, HasSubstr("Accuracy = "));
  const std::string lines = TempDir::read(dir_.file("p"));
  const auto probable = works({"predict --proba", rows.test, model, dir_.file("q")});
  const std::string shares = TempDir::read(dir_.file("q"));
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'),
            std::count(shares.begin(), shares.end(), '\n'));
  EXPECT_EQ(probable.out, predicted.out);

  works({"export", model, dir_.file("model.onnx")});
  works({"show", model, "--record", record});
  const auto evaluated =
      works({"evaluate", rows.test, model, "--report", dir_.file("evaluation.html")});
  EXPECT_THAT(evaluated.out, HasSubstr("Brier score"));
  const std::string better = dir_.file("better.json");
  const auto recalibrated = sotto({"recalibrate --method intercept", rows.test, model, better});
  if (family().name == std::string("linear_without_bias")) {
    EXPECT_EQ(recalibrated.code, 2);
    EXPECT_THAT(recalibrated.err, HasSubstr("Train with --bias"));
  } else {
    EXPECT_EQ(recalibrated.code, 0) << recalibrated.err;
    works({"predict --proba", rows.test, better, dir_.file("r")});
    works({"export", better, dir_.file("better.onnx")});
    works({"verify --model", better, record});
  }
  works({"report", record, "--out", dir_.file("page.html")});
  works({"verify --journal", model + ".journal", "--model", model, record});
  works(Words{"audit --one-run --canaries 10 --journal", dir_.file("audit.journal")} + budget +
        how + rows.train);
}

INSTANTIATE_TEST_SUITE_P(
    All,
    Matrix,
    ::testing::Combine(::testing::Range(0, 7), ::testing::Range(0, 6)),
    [](const auto& which) {
      return std::string(kFormats[static_cast<std::size_t>(std::get<0>(which.param))].name) + "_" +
             kFamilies[static_cast<std::size_t>(std::get<1>(which.param))].name;
    });

// Rows without labels are scored, and a feature that is missing is named.
TEST(MatrixWithoutLabels, PredictScoresThem) {
  for (const auto& family : kFamilies) {
    const TempDir dir;
    const Rows rows = csv(dir);
    const std::string model = dir.file("model.json");
    ASSERT_EQ(sotto("train --epsilon 1 --delta 1e-3 --steps 3" + family.words + rows.declared +
                    Words{rows.train, model})
                  .code,
              0);
    const std::string bare = dir.write("bare.csv", "age,kind\n30,a\n");
    const auto result = sotto({"predict", bare, model, dir.file("p")});
    EXPECT_EQ(result.code, 0) << family.name << result.err;
    EXPECT_EQ(result.out, "") << family.name;
    EXPECT_THAT(TempDir::read(dir.file("p")), HasSubstr("row,prediction,probability\n1,"));
    const std::string less = dir.write("less.csv", "age\n30\n");
    const auto refused = sotto({"predict", less, model, dir.file("q")});
    EXPECT_EQ(refused.code, 3) << family.name << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("'kind'")) << family.name;
    EXPECT_FALSE(std::filesystem::exists(dir.file("q"))) << family.name;
  }
}

}  // namespace
}  // namespace sotto::testing
