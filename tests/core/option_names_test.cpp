// How the library names options, and that it speaks of no command line.

#include "sotto/core/option_names.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>

namespace sotto {
namespace {

namespace fs = std::filesystem;

TEST(OptionNames, EveryFrontEndSpellsThemInItsWay) {
  const std::string message = "Give ‘row_norm’, or use ‘clip_rule flat’ or ‘n0’.";
  EXPECT_EQ(with_flags(message), "Give --row-norm, or use --clip-rule flat or --n0.");
  EXPECT_EQ(with_options(message,
                         [](std::string_view name, std::string_view value) {
                           return std::string(name) + "=" + std::string(value);
                         }),
            "Give row_norm=, or use clip_rule=flat or n0=.");
  EXPECT_EQ(with_flags(marked("row_norm") + " must be > 0"), "--row-norm must be > 0");
}

TEST(OptionNames, WhatIsNoNameStays) {
  for (const std::string text : {"",
                                 "plain --flag",
                                 "‘Row_norm’",
                                 "‘’",
                                 "a ‘row_norm without an end",
                                 "’a‘",
                                 "‘a-b’",
                                 "it’s"})
    EXPECT_EQ(with_flags(text), text);
  EXPECT_EQ(with_flags("‘file A’.txt and ‘a’"), "--file A.txt and --a");
}

/// Whose flags these are.
const std::map<std::string, std::string> kExempt = {
    {"sotto/data/fetch/data_sets.cpp", "commands that are shown as a whole"},
    {"sotto/data/fetch/fetch.cpp", "arguments of curl and tar"},
};

const std::regex kComment(R"((^|\s)//.*)");
const std::regex kFlag(R"~("([^"\\]|\\.)*--[a-z]([^"\\]|\\.)*")~");

bool names_a_flag(const std::string& line) {
  return std::regex_search(std::regex_replace(line, kComment, ""), kFlag);
}

TEST(OptionNames, TheLibraryKnowsNoFlags) {
  int files = 0;
  std::map<std::string, int> found;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(SOTTO_SOURCE_DIR) / "sotto")) {
    const std::string extension = entry.path().extension();
    if (extension != ".cpp" && extension != ".hpp") continue;
    const std::string name = fs::relative(entry.path(), SOTTO_SOURCE_DIR);
    ++files;
    std::ifstream in(entry.path());
    int number = 0;
    for (std::string line; std::getline(in, line);) {
      ++number;
      if (!names_a_flag(line)) continue;
      ++found[name];
      EXPECT_TRUE(kExempt.contains(name))
          << name << ":" << number << ": name the option in marks, ‘row_norm’: " << line;
    }
  }
  EXPECT_GT(files, 250);
  for (const auto& [name, why] : kExempt) EXPECT_GT(found[name], 0) << name << " (" << why << ")";
}

TEST(OptionNames, AFlagWouldBeSeen) {
  EXPECT_TRUE(names_a_flag(R"(  return fail(kUsage, "Give --row-norm.");)"));
  EXPECT_FALSE(names_a_flag(R"(  count--;  // as "--row-norm")"));
  EXPECT_FALSE(names_a_flag(R"(  say("a -- b");)"));
}

}  // namespace
}  // namespace sotto
