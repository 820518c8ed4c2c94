// TOML text that would be too deep for toml++ is refused before toml++ sees it.

#include <gtest/gtest.h>

#include <string>

#include "sotto/core/toml_depth.hpp"

namespace sotto {
namespace {

constexpr int kMost = static_cast<int>(kMostKeyParts);

/// So many times the part, joined.
std::string joined(int parts, const std::string& part = "a", const std::string& dot = ".") {
  std::string text = part;
  for (int k = 1; k < parts; ++k) text += dot + part;
  return text;
}

bool is_deep(const std::string& toml) { return find_deep_key(toml).has_value(); }

TEST(TomlDepth, AKeyMayHaveSoManyParts) {
  for (const std::string part : {"a", "a-b_1", "\"a\"", "'a'", "\"a.b\"", "'a.b#'", "\"\\\".\""})
    for (const std::string dot : {".", " . ", "\t.", ".\t"})
      for (const bool too_many : {false, true}) {
        const std::string key = joined(kMost + (too_many ? 1 : 0), part, dot);
        for (const std::string& toml : {key + " = 1",
                                        "  " + key + "=1",
                                        "[" + key + "]",
                                        "[ " + key + " ] # b",
                                        "[[" + key + "]]\nb = 1",
                                        "b = {" + key + " = 1}",
                                        "b = {c = 1.5, " + key + " = 1}",
                                        "b = [{c = 1}, {" + key + " = 1}]",
                                        "b = [\n  {c = 'd'},\n  {" + key + " = 1},\n]"})
          EXPECT_EQ(is_deep(toml), too_many) << toml;
      }
}

TEST(TomlDepth, DotsThatPartNoKeyAreNotCounted) {
  const std::string dots(1000, '.');
  std::string numbers;
  for (int k = 0; k < 5000; ++k) numbers += "0.5, ";
  for (const std::string& toml : {std::string(),
                                  "a = \"" + dots + "\"",
                                  "a = '" + dots + "'",
                                  "a = \"\\\"" + dots + "\"",
                                  "a = '\\' # " + dots,
                                  "a = \"\"\"" + dots + "\n\"" + dots + "\"\"" + dots + "\"\"\"",
                                  "a = '''" + dots + "\n'" + dots + "''" + dots + "'''''",
                                  "a = \"\"\"\\\"\"\"" + dots + "\"\"\"",
                                  "a = \"\"\"\\\n" + dots + "\"\"\"",
                                  "# " + dots + "\na = 1",
                                  "a = 1 # " + dots,
                                  "a = [" + numbers + "]",
                                  "a = [" + numbers + " # " + dots + "\n 1.5]",
                                  "a = {b = [" + numbers + "]}",
                                  joined(1000, "a.b = 1.5", "\n"),
                                  joined(1000, "[a.b]", "\n"),
                                  "\"" + dots + "\" = 1"})
    EXPECT_FALSE(is_deep(toml)) << toml.substr(0, 100);
}

// Else the scan would still be in a string where toml++ already reads keys.
TEST(TomlDepth, AKeyBehindAStringIsSeen) {
  const std::string key = "\n" + joined(kMost + 1) + " = 1\n";
  for (const std::string before : {"a = \"b\"",
                                   "a = \"\"",
                                   "a = ''",
                                   "a = '\\'",
                                   "a = \"\\\\\"",
                                   "a = \"\"\"\"\"\"",
                                   "a = ''''''",
                                   "a = \"\"\"b\"\"\"\"",
                                   "a = \"\"\"b\"\"\"\"\"",
                                   "a = '''b'''''",
                                   "a = '''\\'''",
                                   "a = \"\"\"\\\\\"\"\"",
                                   "a = \"'''\"",
                                   "a = '\"\"\"'",
                                   "a = 1 # \"\"\"",
                                   "a = 1 # '''",
                                   "a = \"\\u0022\"",
                                   "a = \"\\U00000022\"",
                                   // toml++ 3.3 takes the quotes for digits, and ends behind them.
                                   "a = \"\"\"\\u\"\"\"b\n\"\"\"",
                                   "a = \"\"\"\\u\u00e4\u00e4\"\"\"\"\"",
                                   "a = \"b"})
    EXPECT_TRUE(is_deep(before + key)) << before;
}

// Each is looked for among all of them.
TEST(TomlDepth, DottedKeysAreCounted) {
  std::string keys, headers, numbers = "a = [";
  for (std::size_t k = 0; k < kMostDottedKeys; ++k) {
    keys += "a" + std::to_string(k) + ".b = 1\n";
    headers += "[a" + std::to_string(k) + ".b]\n";
    numbers += "0.5, 1.5,\n";
  }
  EXPECT_FALSE(is_deep(keys));
  EXPECT_TRUE(is_deep(keys + "a.b = 1\n"));
  EXPECT_FALSE(is_deep(headers));
  EXPECT_TRUE(is_deep(headers + "[[a.b]]\n"));
  EXPECT_FALSE(is_deep(numbers + "0.5]\nb = 0.25\n"));
}

// Each list is looked for among all of them.
TEST(TomlDepth, TablesOfListsAreCounted) {
  std::string tables, rows = "a = [\n";
  for (std::size_t k = 0; k < kMostListedTables; ++k) {
    tables += " [[a" + std::to_string(k / 2) + "]]\n";
    rows += "[1], [[2]],\n";
  }
  EXPECT_FALSE(is_deep(tables));
  EXPECT_TRUE(is_deep(tables + "\t[[a]]\n"));
  EXPECT_FALSE(is_deep(tables + "b = [[1]]\n# [[a]]\n"));
  EXPECT_FALSE(is_deep(rows + "[[3]]]\n"));
}

TEST(TomlDepth, TheEndMayComeAnywhere) {
  for (const std::string toml :
       {"\"", "'", "\"\"", "\"\"\"", "'''", "\"\\", "\"\\u", "\"\\U00", "#"})
    EXPECT_FALSE(is_deep(toml)) << toml;
}

TEST(TomlDepth, ThePlaceIsTheDotThatIsTooMuch) {
  const auto place =
      find_deep_key("# a\nb = \"\"\"\n\n\"\"\"\n'\u00e4'." + joined(kMost) + " = 1\n");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->line, 5u);
  EXPECT_EQ(place->column, 4 + 2 * (kMostKeyParts - 1));
}

}  // namespace
}  // namespace sotto
