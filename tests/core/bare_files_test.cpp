// Files are opened, written, renamed and removed in one place (core/file), where every call can be
// made to fail: nobody calls the system or a stream directly. And TOML text is parsed in one place
// (core/toml), which refuses what would overflow the stack.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>

namespace {

namespace fs = std::filesystem;

/// What only few files call.
struct Rule {
  std::regex call;
  std::map<std::string, std::string> exempt;  ///< who may, and why
};

const Rule kBareFiles = {
    std::regex(
        R"(std::[io]?fstream|fopen\(|popen\(|(^|[^:\w])::(open|rename|unlink|fsync|fdatasync|flock|truncate|ftruncate|creat)\(|std::(rename|remove)\(\w*path|fs::(rename|remove)\(|filesystem::(rename|remove)\()"),
    {
        {"sotto/core/file_system.cpp", "the one place"},
        {"sotto/core/file.cpp", "unlinks temporary files in a signal's handler"},
        {"sotto/data/paged_array.cpp", "pages without a name, for rows that memory can't hold"},
        {"sotto/data/fetch/fetch.cpp", "public downloads, whose checksums are known"},
    }};

const Rule kBareToml = {std::regex(R"(toml::parse(_file)?\s*\(|"_toml\b)"),
                        {{"sotto/core/toml.hpp", "the one place"}}};

void expect_called_by_few(const Rule& rule) {
  int files = 0;
  for (const char* folder : {"sotto", "apps"})
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(SOTTO_SOURCE_DIR) / folder)) {
      const std::string extension = entry.path().extension();
      if (extension != ".cpp" && extension != ".hpp") continue;
      const std::string name = fs::relative(entry.path(), SOTTO_SOURCE_DIR);
      ++files;
      if (rule.exempt.contains(name)) continue;
      std::ifstream in(entry.path());
      int number = 0;
      for (std::string line; std::getline(in, line);) {
        ++number;
        EXPECT_FALSE(std::regex_search(line, rule.call)) << name << ":" << number << ": " << line;
      }
    }
  EXPECT_GT(files, 250);
}

void expect_exemptions_needed(const Rule& rule) {
  for (const auto& [name, why] : rule.exempt) {
    std::ostringstream text;
    text << std::ifstream(fs::path(SOTTO_SOURCE_DIR) / name).rdbuf();
    EXPECT_TRUE(std::regex_search(text.str(), rule.call)) << name << " (" << why << ")";
  }
}

TEST(BareFiles, AreOpenedInOnePlaceOnly) { expect_called_by_few(kBareFiles); }

TEST(BareFiles, ExemptionsAreNeeded) { expect_exemptions_needed(kBareFiles); }

TEST(BareToml, IsParsedInOnePlaceOnly) { expect_called_by_few(kBareToml); }

TEST(BareToml, ExemptionsAreNeeded) { expect_exemptions_needed(kBareToml); }

}  // namespace
