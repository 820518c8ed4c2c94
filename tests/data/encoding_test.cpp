// What other programs are told about encoding, against what RowEncoder does.

#include "sotto/data/encoding.hpp"

#include <random>

#include "sotto/data/row_encoder.hpp"
#include "tests/data/support.hpp"
#include "tests/support/encoding_reference.hpp"

namespace sotto {
namespace {

using testing::Field;
using testing::reference_features;

constexpr const char* kPlainKinds = R"([file]
missing = ["?", "", "999"]
[[column]]
name = "filled"
kind = "numeric"
min = 0
max = 120
filler = 40
[[column]]
name = "ignored"
kind = "ignore"
[[column]]
name = "flagged"
kind = "numeric"
min = -5.5
max = 5
missing_indicator = true
[[column]]
name = "both"
kind = "numeric"
min = 60
max = 200
filler = 120.5
missing_indicator = true
[[column]]
name = "demanded"
kind = "numeric"
min = 0.1
max = 0.3
[[column]]
name = "texts"
kind = "categorical"
values = [["a", "A"], "b", "?"]
other = true
missing_indicator = true
[[column]]
name = "y"
kind = "label"
negative = "0"
positive = "1"
[[column]]
name = "others"
kind = "categorical"
values = ["x", "y"]
[[column]]
names = ["f", "g", "h"]
kind = "onehot"
[[column]]
name = "last"
kind = "categorical"
values = ["", "z"]
missing_indicator = true
)";

constexpr const char* kFurtherKeys = R"([file]
missing = ["?", "999"]
[[column]]
name = "visits"
kind = "numeric"
scale = "log1p"
min = 0
max = 100
filler = 3
[[column]]
name = "age"
kind = "numeric"
bins = [30, 50, 70.5]
filler = 50
missing_indicator = true
[[column]]
name = "admitted"
kind = "numeric"
date = "%Y-%m-%d"
min = "2010-01-01"
max = "2025-12-31"
missing_indicator = true
[[column]]
name = "code"
kind = "categorical"
prefix = 3
case = "ignore"
values = ["V27", ["É1", "x"]]
ranges = [["circulatory", 390, 459], ["circulatory", 785, 785], ["diabetes", -2, 250]]
other = true
missing_indicator = true
[[column]]
name = "y"
kind = "label"
negative = "0"
positive = "1"
)";

const std::vector<std::vector<std::string>> kPlainFields = {
    {"0", "120", "-1", "500", "33.3", "+7", "1e1", "?", "", "999", "x", "inf", "nan"},
    {"5", "-5.5", "4.999", "?", "999.0", "1e400"},
    {"60", "200", "61.7", "?", "130"},
    {"0.1", "0.3", "0.2", ".25", "0.2", "?"},
    {"a", "A", "b", "?", "", "999", "c", "B"},
    {"x", "y", "", "?", "z"},
    {"0", "1", "0.0", "2", ""},
    {"0", "0", "1.0"},
    {"0", "0", "1"},
    {"", "z", "?", "other"}};

const std::vector<std::vector<std::string>> kFurtherFields = {
    {"0", "100", "250", "-3", "2.5", "?"},
    {"-1e9", "30", "29.99", "49", "70.5", "1e30", "?", "x"},
    {"2010-01-01", "2024-02-29", "2001-01-01", "2030-01-01", "2023-02-29", "?"},
    {"V27",
     "v275",
     "É1x",
     "é1",
     "390",
     "459.5",
     "458.9",
     "785",
     "78",
     "-2",
     "V",
     "?",
     "999",
     "250.8",
     "1e2",
     ""}};

/// Random rows of these fields, encoded by both; a column that has no features has "n".
void compare(const Schema& schema, const std::vector<std::vector<std::string>>& choices) {
  const Encoding encoding = encoding_of(schema);
  ASSERT_EQ(encoding.columns.size(), choices.size());
  ASSERT_EQ(static_cast<std::size_t>(encoding.features), schema.feature_names().size());
  std::vector<std::size_t> places(schema.columns.size());
  for (std::size_t c = 0; c < places.size(); ++c) places[c] = c;
  const RowEncoder encoder(schema, places, false, Misfits::kRefuse, {false, false});
  std::mt19937 random(7);
  int refused = 0;
  constexpr int kRows = 3000;
  for (int i = 0; i < kRows; ++i) {
    std::vector<Field> fields;
    for (const auto& words : choices) fields.emplace_back(words[random() % words.size()]);
    std::vector<std::string_view> row(schema.columns.size(), "n");
    for (std::size_t c = 0, j = 0; c < row.size(); ++c) {
      if (schema.columns[c].kind == Schema::Kind::kLabel) row[c] = "1";
      if (j < encoding.columns.size() && schema.columns[c].name == encoding.columns[j].name)
        row[c] = *fields[j++];
    }
    TableBuilder builder(encoding.features, false, {});
    const TableBuilder::Piece piece{1, 0};
    auto writers = builder.extend({&piece, 1});
    const bool fits = encoder.encode(row, false, writers[0]).text.empty();
    builder.commit(writers);
    const Table table = std::move(builder).finish();
    const auto expected = reference_features(encoding, fields);
    ASSERT_EQ(fits, expected.has_value()) << i;
    refused += fits ? 0 : 1;
    for (std::int64_t k = 0; fits && k < encoding.features; ++k)
      ASSERT_FLOAT_EQ(table.row(0)[k], static_cast<float>((*expected)[static_cast<std::size_t>(k)]))
          << i << ": " << schema.feature_names()[static_cast<std::size_t>(k)];
  }
  EXPECT_GT(refused, kRows / 20);
  EXPECT_LT(refused, kRows * 19 / 20);
}

TEST(Encodings, SayWhatRowsBecome) {
  const auto schema = Schema::parse(kPlainKinds, "s");
  ASSERT_TRUE(schema) << schema.error().message;
  compare(*schema, kPlainFields);
}

TEST(Encodings, SayWhatRowsBecomeOfScalesBinsDatesAndRanges) {
  const auto schema = Schema::parse(kFurtherKeys, "s");
  if (!schema) GTEST_SKIP() << "schemas have no scale, bins, date, prefix, case and ranges yet";
  compare(*schema, kFurtherFields);
}

TEST(Encodings, KnowWhatIsMissing) {
  const Encoding encoding = encoding_of(Schema::parse(kPlainKinds, "s").value());
  EXPECT_EQ(encoding.missing_numbers(), std::vector<double>{999});
  // No value at all: an empty text where that is a value, otherwise a missing one.
  EXPECT_EQ(encoding.columns[4].absent_text(), encoding.columns[4].missing);
  EXPECT_EQ(encoding.columns[5].absent_text(), Encoding::kNone);
  EXPECT_EQ(encoding.columns.back().absent_text(), encoding.columns.back().first);
}

}  // namespace
}  // namespace sotto
