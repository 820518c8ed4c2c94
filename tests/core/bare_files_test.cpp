// Files are opened, written, renamed and removed in one place (core/file), where every call can be
// made to fail: nobody calls the system or a stream directly.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>

namespace {

namespace fs = std::filesystem;

/// Who may, and why.
const std::map<std::string, std::string> kExempt = {
    {"sotto/core/file_system.cpp", "the one place"},
    {"sotto/core/file.cpp", "unlinks temporary files in a signal's handler"},
    {"sotto/data/paged_array.cpp", "pages without a name, for rows that memory can't hold"},
    {"sotto/data/fetch/fetch.cpp", "public downloads, whose checksums are known"},
};

const std::regex kCall(
    R"(std::[io]?fstream|fopen\(|popen\(|(^|[^:\w])::(open|rename|unlink|fsync|fdatasync|flock|truncate|ftruncate|creat)\(|std::(rename|remove)\(\w*path|fs::(rename|remove)\(|filesystem::(rename|remove)\()");

TEST(BareFiles, AreOpenedInOnePlaceOnly) {
  int files = 0;
  for (const char* folder : {"sotto", "apps"})
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(SOTTO_SOURCE_DIR) / folder)) {
      const std::string extension = entry.path().extension();
      if (extension != ".cpp" && extension != ".hpp") continue;
      const std::string name = fs::relative(entry.path(), SOTTO_SOURCE_DIR);
      ++files;
      if (kExempt.contains(name)) continue;
      std::ifstream in(entry.path());
      int number = 0;
      for (std::string line; std::getline(in, line);) {
        ++number;
        EXPECT_FALSE(std::regex_search(line, kCall)) << name << ":" << number << ": " << line;
      }
    }
  EXPECT_GT(files, 250);
}

TEST(BareFiles, ExemptionsAreNeeded) {
  for (const auto& [name, why] : kExempt) {
    std::ostringstream text;
    text << std::ifstream(fs::path(SOTTO_SOURCE_DIR) / name).rdbuf();
    EXPECT_TRUE(std::regex_search(text.str(), kCall)) << name << " (" << why << ")";
  }
}

}  // namespace
