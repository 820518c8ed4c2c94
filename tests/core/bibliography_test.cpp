// Every citation key in code and documents stands in docs/background/bibliography.md.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// Keys such as [BW18] or [CKS20, Thm 3]: capital, letters, two digits, right after a bracket or a
/// comma inside brackets.
std::set<std::string> keys_in(const std::string& text) {
  static const std::regex bracket(R"(\[([A-Z][^\[\]\n]{2,80})\])");
  static const std::regex key(R"((?:^|, )([A-Z][A-Za-z]{1,11}[0-9]{2})(?=$|,))");
  std::set<std::string> keys;
  for (std::sregex_iterator b(text.begin(), text.end(), bracket), end; b != end; ++b) {
    const std::string inside = (*b)[1];
    for (std::sregex_iterator k(inside.begin(), inside.end(), key); k != end; ++k)
      keys.insert((*k)[1]);
  }
  return keys;
}

TEST(Bibliography, EveryKeyIsKnown) {
  const fs::path root(SOTTO_SOURCE_DIR);
  const std::set<std::string> known = keys_in(text_of(root / "docs/background/bibliography.md"));
  ASSERT_GT(known.size(), 20u);
  for (const char* folder : {"sotto", "apps", "docs", "tests", "benchmarks", "examples"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string extension = entry.path().extension();
      if (extension != ".hpp" && extension != ".cpp" && extension != ".md") continue;
      if (entry.path().filename() == "bibliography_test.cpp") continue;
      for (const auto& key : keys_in(text_of(entry.path())))
        EXPECT_TRUE(known.contains(key)) << "[" << key << "] in " << entry.path();
    }
}

TEST(Bibliography, KeysAreFound) {
  EXPECT_EQ(keys_in("as in [BW18] and [CKS20, Thm 3], [ST22, KTH23]; not [CI] or x[N10 + 1]"),
            (std::set<std::string>{"BW18", "CKS20", "ST22", "KTH23"}));
}

}  // namespace
