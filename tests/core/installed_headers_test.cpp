// What is installed: a closed set of headers, which two of them lead to, and which ask little of
// whoever includes them.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path kRoot = SOTTO_SOURCE_DIR;

/// The first groups of all lines of a file that match.
std::vector<std::string> found(const fs::path& file, const std::string& pattern) {
  const std::regex expression(pattern);
  std::vector<std::string> all;
  std::ifstream stream(file);
  std::smatch match;
  for (std::string line; std::getline(stream, line);)
    if (std::regex_search(line, match, expression)) all.push_back(match[1]);
  return all;
}

std::vector<std::string> ours(const fs::path& file) {
  return found(file, "^\\s*#\\s*include\\s*[\"<](sotto/[^\">]+)[\">]");
}

std::set<std::string> installed() {
  const auto list = found(kRoot / "cmake/Headers.cmake", "^ +(sotto/[a-z_/]+\\.hpp)\\)?$");
  return {list.begin(), list.end()};
}

TEST(InstalledHeaders, AnInstalledHeaderIncludesOnlyInstalledOnes) {
  const auto headers = installed();
  for (const auto& header : headers)
    for (const auto& target : ours(kRoot / header))
      EXPECT_TRUE(headers.contains(target))
          << header << " is installed, but " << target << " is not: cut the include (a forward "
          << "declaration, a header of its own), or add it to cmake/Headers.cmake";
}

TEST(InstalledHeaders, TwoHeadersLeadToAllOfThem) {
  std::set<std::string> reached;
  std::vector<std::string> open = {"sotto/sotto.hpp", "sotto/method.hpp"};
  while (!open.empty()) {
    const std::string header = open.back();
    open.pop_back();
    if (!reached.insert(header).second) continue;
    for (const auto& target : ours(kRoot / header)) open.push_back(target);
  }
  EXPECT_EQ(installed(), reached);
}

TEST(InstalledHeaders, TheyIncludeFewLibraries) {
  // Each of these is a find_dependency in cmake/sotto-config.cmake.in, for compiling.
  const std::set<std::string> allowed = {"tl/expected.hpp", "Eigen/Core", "fmt/format.h"};
  const std::string library = "^\\s*#\\s*include\\s*<([^>]+(/[^>]+|\\.hp*))>";
  for (const auto& header : installed())
    for (const auto& target : found(kRoot / header, library))
      EXPECT_TRUE(allowed.contains(target)) << header << " includes <" << target << ">";
}

TEST(InstalledHeaders, ExamplesNeedNoOthers) {
  const auto headers = installed();
  int programs = 0;
  for (const auto& entry : fs::directory_iterator(kRoot / "examples")) {
    if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
    for (const auto& target : ours(entry.path()))
      EXPECT_TRUE(headers.contains(target)) << entry.path().filename() << ": " << target;
    ++programs;
  }
  EXPECT_GE(programs, 6);
}

TEST(InstalledHeaders, TheFirstExampleForUsersIsShort) {
  int lines = 0;
  std::ifstream stream(kRoot / "examples/2_csv_to_predictions.cpp");
  for (std::string line; std::getline(stream, line);)
    lines += line.empty() || line.starts_with("//") ? 0 : 1;
  EXPECT_GT(lines, 10);
  EXPECT_LE(lines, 25);
}

TEST(InstalledHeaders, TheListIsRead) { EXPECT_GT(installed().size(), 30U); }

}  // namespace
