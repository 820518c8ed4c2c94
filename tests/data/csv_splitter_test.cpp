#include "sotto/data/io/csv_splitter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace sotto {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

constexpr std::size_t kAny = static_cast<std::size_t>(-1);

struct Fields {
  std::vector<std::string> texts;
  bool closed = true;
};

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// What fields are, one byte after the other.
Fields fields_of(const std::string& line, char separator, std::size_t most) {
  Fields fields;
  std::size_t i = 0;
  while (fields.texts.size() < most) {
    std::size_t quote = i;
    while (quote < line.size() && line[quote] != separator &&
           (line[quote] == ' ' || line[quote] == '\t'))
      ++quote;
    std::string text;
    if (quote < line.size() && line[quote] == '"') {
      for (i = quote + 1;; ++i) {
        if (i == line.size()) return fields.closed = false, fields;
        if (line[i] == '"' && (++i == line.size() || line[i] != '"')) break;
        text += line[i];
      }
      while (i < line.size() && line[i] != separator && (line[i] == ' ' || line[i] == '\t')) ++i;
      if (i < line.size() && line[i] != separator) return fields.closed = false, fields;
    } else {
      while (i < line.size() && line[i] != separator) text += line[i++];
      while (!text.empty() && blank(text.back())) text.pop_back();
      while (!text.empty() && blank(text.front())) text.erase(0, 1);
    }
    fields.texts.push_back(text);
    if (i == line.size()) return fields;
    ++i;
  }
  return fields;
}

/// A line that ends where memory does, so that a sanitizer sees who reads beyond it.
std::vector<std::string> split(CsvSplitter& splitter, const std::string& line, bool& closed) {
  const std::unique_ptr<char[]> exact(new char[line.size()]);
  std::memcpy(exact.get(), line.data(), line.size());
  closed = splitter.split({exact.get(), line.size()});
  const auto fields = splitter.fields();
  return {fields.begin(), fields.end()};
}

TEST(CsvSplitter, SplitsAsOneByteAfterTheOtherWould) {
  std::mt19937 random(1);  // a test of equality: any seed must do
  std::size_t with_quotes = 0, unclosed = 0;
  for (const char separator : {',', ';', '\t', ' ', '\0'}) {
    const std::string plain = std::string("ab1.  \t\r\0\x80\xff", 11) + std::string(5, separator);
    for (const std::size_t most : {kAny, std::size_t{1}, std::size_t{7}, std::size_t{64}}) {
      CsvSplitter splitter(separator, most, kAny);
      for (std::size_t k = 0; k < 3000; ++k) {
        std::string line;
        const std::size_t size = random() % (k % 2 == 0 ? 20 : 300);
        while (line.size() < size) line += plain[random() % plain.size()];
        for (std::size_t q = random() % 2 * (random() % 7); q > 0; --q)
          line.insert(random() % (line.size() + 1), random() % 3 == 0 ? "\"\"" : "\"");
        const Fields expected = fields_of(line, separator, most);
        bool closed = false;
        ASSERT_THAT(split(splitter, line, closed), ElementsAreArray(expected.texts)) << line;
        ASSERT_EQ(closed, expected.closed) << line;
        with_quotes += line.find('"') != line.npos ? 1 : 0;
        unclosed += closed ? 0 : 1;
      }
    }
  }
  EXPECT_GT(with_quotes, 1000u);
  EXPECT_GT(unclosed, 500u);
}

TEST(CsvSplitter, QuotedFieldsOfOneLine) {
  CsvSplitter splitter(',', kAny, kAny);
  bool closed = false;
  EXPECT_THAT(split(splitter, R"("a,b" ,"","say ""x""", c"d )", closed),
              ElementsAre("a,b", "", "say \"x\"", "c\"d"));
  EXPECT_TRUE(closed);
  EXPECT_THAT(split(splitter, R"(a,"b" c,d)", closed), ElementsAre("a"));
  EXPECT_FALSE(closed);
}

TEST(CsvSplitter, LongFieldsStandThereEmpty) {
  CsvSplitter splitter(',', kAny, 70);
  bool closed = false;
  const std::string fits(70, 'x');
  const std::string too_long(71, 'x');
  EXPECT_THAT(split(splitter, "a," + fits + ",  " + too_long + " ,b," + too_long, closed),
              ElementsAre("a", fits, "", "b", ""));
  EXPECT_EQ(splitter.long_field(), 2u);
  EXPECT_THAT(split(splitter, "\"" + too_long + "\",b", closed), ElementsAre("", "b"));
  EXPECT_EQ(splitter.long_field(), 0u);
  EXPECT_THAT(split(splitter, fits, closed), ElementsAre(fits));
  EXPECT_EQ(splitter.long_field(), std::nullopt);
}

}  // namespace
}  // namespace sotto
