// The architecture's rule of who may include whom, read from the files themselves.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

/// For each module the prefixes below sotto/ that it may include beside its own folder and core/.
const std::map<std::string, std::vector<std::string>> kAllowed = {
    {"sotto.hpp", {""}},  // the face: everything that it shows is below
    {"method.hpp", {"optimizer/", "oracle/api/"}},
    {"core", {}},
    {"random", {}},
    {"privacy", {}},  // pure mathematics: no rows, no randomness
    {"release", {"privacy/"}},
    {"data", {"random/"}},
    {"loss", {}},
    {"geometry", {"loss/"}},
    {"objective", {"data/", "loss/"}},
    {"mechanism", {"privacy/", "random/", "release/"}},
    {"oracle/api", {"privacy/", "release/", "loss/", "geometry/"}},
    // Claims of sensitivity: no row, no engine, nothing that could have counted either.
    {"oracle/claims",
     {"privacy/", "loss/", "geometry/", "oracle/api/", "release/sensitivity_claim.hpp"}},
    {"oracle",
     {"privacy/",
      "release/",
      "loss/",
      "geometry/",
      "random/",
      "mechanism/",
      "objective/",
      "oracle/api/",
      "oracle/claims/"}},
    // Nothing that could reach a row or a raw sum.
    {"optimizer",
     {"oracle/api/",
      "loss/",
      "geometry/",
      "privacy/event.hpp",
      "privacy/sampling.hpp",
      "privacy/neighbours.hpp"}},
    {"model", {"privacy/", "loss/", "geometry/", "data/", "objective/"}},
    {"record", {"privacy/", "model/"}},
    {"training",
     {"privacy/",
      "random/",
      "loss/",
      "geometry/",
      "objective/",
      "mechanism/carried.hpp",
      "oracle/",
      "optimizer/",
      "model/",
      "record/"}},
    {"task",
     {"privacy/",
      "data/",
      "loss/",
      "geometry/",
      "objective/",
      "oracle/",
      "model/",
      "record/",
      "training/"}},
    {"report", {"privacy/", "model/", "record/"}},
    {"audit",
     {"privacy/",
      "random/",
      "data/",
      "loss/",
      "geometry/",
      "objective/",
      "mechanism/",
      "release/",
      "oracle/",
      "optimizer/",
      "record/",
      "report/",
      "training/",
      "task/"}},
    // History of papers and their measurements: nothing below may need it.
    {"study",
     {"privacy/",
      "data/",
      "loss/",
      "geometry/",
      "objective/",
      "oracle/",
      "optimizer/",
      "model/",
      "record/",
      "report/",
      "training/",
      "task/"}},
};

std::string module_of(const std::string& path) {
  for (const std::string part : {"oracle/api", "oracle/claims"})
    if (path.starts_with(part + "/")) return part;
  return path.substr(0, path.find('/'));
}

bool may_include(const std::string& module, const std::string& target) {
  if (module_of(target) == module || target.starts_with("core/")) return true;
  for (const auto& prefix : kAllowed.at(module))
    if (target.starts_with(prefix)) return true;
  return false;
}

std::vector<std::string> includes_of(const fs::path& file) {
  static const std::regex pattern("^\\s*#\\s*include\\s*\"sotto/([^\"]+)\"");
  std::vector<std::string> includes;
  std::ifstream stream(file);
  std::smatch match;
  for (std::string line; std::getline(stream, line);)
    if (std::regex_search(line, match, pattern)) includes.push_back(match[1]);
  return includes;
}

TEST(IncludeGraph, EveryIncludeIsAllowed) {
  const fs::path root = fs::path(SOTTO_SOURCE_DIR) / "sotto";
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const std::string extension = entry.path().extension();
    if (extension != ".hpp" && extension != ".cpp") continue;
    const std::string path = fs::relative(entry.path(), root);
    const std::string module = module_of(path);
    ASSERT_TRUE(kAllowed.contains(module)) << "sotto/" << path << ": unknown module " << module;
    for (const auto& target : includes_of(entry.path()))
      EXPECT_TRUE(may_include(module, target))
          << "sotto/" << path << " must not include sotto/" << target;
    ++files;
  }
  EXPECT_GT(files, 50);
}

TEST(IncludeGraph, TheRuleCanFail) {
  EXPECT_FALSE(may_include("optimizer", "data/table.hpp"));
  EXPECT_FALSE(may_include("optimizer", "oracle/private_oracle.hpp"));
  EXPECT_FALSE(may_include("optimizer", "privacy/ledger.hpp"));
  EXPECT_FALSE(may_include("oracle/api", "oracle/per_example_sum.hpp"));
  EXPECT_FALSE(may_include("oracle/claims", "data/table.hpp"));
  EXPECT_FALSE(may_include("oracle/claims", "objective/engine.hpp"));
  EXPECT_FALSE(may_include("oracle/claims", "oracle/per_example_sum.hpp"));
  EXPECT_FALSE(may_include("privacy", "random/stream.hpp"));
  EXPECT_FALSE(may_include("privacy", "study/published/formula.hpp"));
  EXPECT_TRUE(may_include("optimizer", "oracle/api/oracle.hpp"));
}

}  // namespace
