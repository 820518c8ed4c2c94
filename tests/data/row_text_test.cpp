// A database's rows as text, and that text as fields again.

#include "sotto/data/sql/row_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "sotto/data/io/csv_splitter.hpp"
#include "sotto/data/io/line_batches.hpp"
#include "sotto/data/io/null_field.hpp"

namespace sotto {
namespace {

using Values = std::vector<std::optional<std::string>>;

class MadeUpRows final : public SqlRows {
 public:
  MadeUpRows(std::vector<std::string> names, std::vector<Values> rows) : rows_(std::move(rows)) {
    for (std::string& name : names) columns_.push_back({std::move(name)});
  }
  Expected<bool> next(std::span<std::string_view> values) override {
    if (at_ == rows_.size()) return false;
    for (std::size_t k = 0; k < values.size(); ++k) {
      const auto& value = rows_[at_][k];
      values[k] = value ? std::string_view(*value) : std::string_view();
    }
    ++at_;
    return true;
  }

 private:
  std::vector<Values> rows_;
  std::size_t at_ = 0;
};

std::string text_of(std::vector<std::string> names,
                    std::vector<Values> rows,
                    std::size_t longest = InputLimits::kFieldBytes,
                    std::size_t step = 1 << 16) {
  InputLimits limits;
  limits.field_bytes = longest;
  RowText text(std::make_unique<MadeUpRows>(std::move(names), std::move(rows)), limits);
  std::string all;
  std::string buffer(step, '\0');
  for (;;) {
    const auto got = text.read(buffer);
    EXPECT_TRUE(got);
    all.append(buffer, 0, *got);
    if (*got < step) return all;
  }
}

std::vector<Values> rows_of(const std::string& text, std::size_t columns) {
  std::vector<Values> rows;
  CsvSplitter splitter(',', columns + 1, InputLimits::kFieldBytes, CsvFields::kRows);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    EXPECT_TRUE(splitter.split(std::string_view(text).substr(begin, end - begin)));
    Values row;
    for (const std::string_view field : splitter.fields())
      row.push_back(is_null_field(field) ? std::nullopt : std::optional(std::string(field)));
    rows.push_back(row);
    begin = end + 1;
  }
  return rows;
}

/// Every text of up to three of these bytes.
std::vector<std::string> all_texts() {
  using namespace std::string_literals;
  const std::vector<std::string> parts = {
      "a", "\n", "\r", "\"", ",", "\\", "n", " ", "\t", "\0"s, "\x01", "\xEF\xBB\xBF", "#"};
  std::vector<std::string> texts = {""};
  for (std::size_t begin = 0, length = 0; length < 3; ++length) {
    const std::size_t end = texts.size();
    for (std::size_t k = begin; k < end; ++k)
      for (const std::string& part : parts) texts.push_back(texts[k] + part);
    begin = end;
  }
  return texts;
}

TEST(TextOfRows, EveryTextComesBackOnOneLine) {
  std::vector<Values> rows;
  const auto texts = all_texts();
  ASSERT_GT(texts.size(), 2000u);
  for (const std::string& each : texts) {
    rows.push_back({each, std::nullopt, "x"});
    rows.push_back({std::nullopt, each, each});
  }
  for (const std::size_t step : {std::size_t{1} << 16, std::size_t{7}}) {
    const std::string text = text_of({"a", "b", "c"}, rows, InputLimits::kFieldBytes, step);
    auto back = rows_of(text, 3);
    ASSERT_EQ(back.size(), rows.size() + 1);
    EXPECT_EQ(back.front(), (Values{"a", "b", "c"}));
    back.erase(back.begin());
    EXPECT_EQ(back, rows);
  }
}

TEST(TextOfRows, ARowOfOneNullIsALine) {
  EXPECT_EQ(text_of({""}, {{std::nullopt}, {""}}), "\"\"\n\n\"\"\n");
}

TEST(TextOfRows, FilesKeepTheirMeaning) {
  CsvSplitter splitter(',', 9, 100);
  ASSERT_TRUE(splitter.split(R"(,"","a\n\\b")"));
  EXPECT_FALSE(is_null_field(splitter.fields()[0]));
  EXPECT_FALSE(is_null_field(splitter.fields()[1]));
  EXPECT_EQ(splitter.fields()[2], R"(a\n\\b)");
}

TEST(TextOfRows, ALongFieldIsCutAndStillTooLong) {
  const std::string text = text_of({"a"}, {{std::string(1000, '\n')}, {std::string(10, '"')}}, 10);
  EXPECT_LT(text.size(), 60u);
  CsvSplitter splitter(',', 2, 10, CsvFields::kRows);
  const std::size_t begin = text.find('\n') + 1;
  const std::size_t end = text.find('\n', begin);
  ASSERT_TRUE(splitter.split(std::string_view(text).substr(begin, end - begin)));
  EXPECT_EQ(splitter.long_field(), 0u);
  ASSERT_TRUE(splitter.split(std::string_view(text).substr(end + 1, text.size() - end - 2)));
  EXPECT_FALSE(splitter.long_field()) << "as long as may be";
}

}  // namespace
}  // namespace sotto
