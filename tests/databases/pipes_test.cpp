// Rows of training that come through a pipe.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/predictions.hpp"

namespace sotto::testing {
namespace {

using ::testing::HasSubstr;

class TrainingPipes : public Predictions {
 protected:
  /// `sotto WORDS` with the file as its standard input, through a pipe.
  static CommandResult piped(const std::string& path, const Words& words) {
    return in_a_shell([&](const std::string& redirected) {
      return "cat " + in_quotes(path) + " | " + shell_line(words) + redirected;
    });
  }
  nlohmann::json weights(const std::string& model) const {
    return nlohmann::json::parse(TempDir::read(file(model))).at("weights");
  }
};

TEST_F(TrainingPipes, CsvIsReadAsFromItsFile) {
  const Words train = "train --seed 5 --epsilon 1 --delta 1e-5 --quiet --schema";
  const auto named = sotto(train + Words{schema_, rows_, file("a.json")});
  ASSERT_EQ(named.code, 0) << named.err;
  const auto through = piped(rows_, train + Words{schema_, std::string("-"), file("b.json")});
  ASSERT_EQ(through.code, 0) << through.err;
  EXPECT_EQ(weights("a.json"), weights("b.json"));
  for (const char* verb : {"info", "check"}) {
    const auto run = piped(rows_, {"data", verb, "--schema", schema_, std::string("-")});
    EXPECT_EQ(run.code, 0) << verb << run.err;
  }
  EXPECT_EQ(piped(rows_, {"evaluate", std::string("-"), file("a.json")}).code, 0);
}

TEST_F(TrainingPipes, LibsvmIsReadAsFromItsFile) {
  // More than is held in memory at a time.
  const std::string rows = dir_.write("rows.svm", small_libsvm(300'000));
  ASSERT_GT(std::filesystem::file_size(rows), 4U << 20);
  const Words train = "train --seed 5 --epsilon 1 --delta 1e-5 --quiet --row-norm 1.5";
  const auto named = sotto(train + Words{"--dim 2", rows, file("a.json")});
  ASSERT_EQ(named.code, 0) << named.err;
  const auto through = piped(rows, train + Words{"--dim 2", std::string("-"), file("b.json")});
  ASSERT_EQ(through.code, 0) << through.err;
  EXPECT_EQ(weights("a.json"), weights("b.json"));
  const auto unknown =
      piped(rows, Words{"train --method gd --quiet", std::string("-"), file("c.json")});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("Give --dim N"));
}

// What a row holds refuses nothing where rows are not to be refused: not even the first bytes.
TEST_F(TrainingPipes, TheFirstBytesDecideNothing) {
  const std::string schema = dir_.write(
      "s.toml",
      "[[column]]\nname = \"x\"\nkind = \"numeric\"\nmin = 0\nmax = 1\nfiller = 0\n"
      "[[column]]\nname = \"y\"\nkind = \"label\"\npositive = [\"1\"]\nnegative = [\"0\"]\n");
  std::string rows;
  for (int k = 0; k < 50; ++k) rows += "0.5,1\n0.25,0\n";
  const Words train =
      Words{"train --seed 5 --epsilon 1 --delta 1e-5 --no-refusals --again --schema",
            schema,
            std::string("-"),
            file("m.json")};
  const auto plain = piped(dir_.write("a.csv", "0.5,1\n" + rows), train);
  const auto packed = piped(dir_.write("b.csv", "\x1f\x8b\x08,1\n" + rows), train);
  EXPECT_EQ(plain.code, 0) << plain.err;
  EXPECT_EQ(packed.code, 0) << packed.err;
  EXPECT_EQ(plain.out, packed.out);
}

TEST_F(TrainingPipes, OnlyOneOfTheRowsIsReadThere) {
  const auto both = piped(rows_,
                          Words{"train --epsilon 1 --delta 1e-5 --schema",
                                schema_,
                                "--test",
                                std::string("-"),
                                std::string("-"),
                                file("m2.json")});
  EXPECT_EQ(both.code, 2);
  EXPECT_THAT(both.err, HasSubstr("is the training data"));
  const auto pair = piped(rows_,
                          Words{"train --epsilon 1 --delta 1e-5 --format npy --row-norm 1",
                                std::string("-"),
                                file("m2.json")});
  EXPECT_EQ(pair.code, 2);
  EXPECT_THAT(pair.err, HasSubstr("read as CSV or LIBSVM"));
}

}  // namespace
}  // namespace sotto::testing
