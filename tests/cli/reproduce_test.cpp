// The `reproduce` verb from the outside, and that the documents come from the committed results.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/command.hpp"

namespace sotto::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string kSource = SOTTO_SOURCE_DIR;

TEST(Reproduce, ListsWhatThereIs) {
  const auto run = sotto({"reproduce", "list"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("srm-table2"), HasSubstr("adp-fig2")));
}

TEST(Reproduce, UnknownNamesAndMissingDataSayWhatToDo) {
  const auto unknown = sotto({"reproduce", "nothing-at-all"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("sotto reproduce list"));
  const TempDir dir;
  const auto missing =
      sotto({"reproduce", "srm-table2", "--quick", "--data", dir.file(""), "--out", dir.file("o")});
  EXPECT_EQ(missing.code, 6);
  EXPECT_THAT(missing.err, AllOf(HasSubstr("a9a.gz"), HasSubstr("--data")));
}

TEST(Reproduce, WritesResultsAndPages) {
  const TempDir dir;
  const auto run = sotto({"reproduce", "nonstationary-fig3", "--quick", "--out", dir.file("out")});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto json = nlohmann::json::parse(TempDir::read(dir.file("out/nonstationary-fig3.json")));
  EXPECT_EQ(json["command"], "sotto reproduce nonstationary-fig3 --quick");
  EXPECT_TRUE(json["quick"]);
  EXPECT_FALSE(json["machine"].get<std::string>().empty());
  for (const char* name : {"nonstationary-fig3.csv", "nonstationary-fig3.html", "index.html"})
    EXPECT_TRUE(fs::exists(dir.file(std::string("out/") + name))) << name;
  EXPECT_THAT(TempDir::read(dir.file("out/nonstationary-fig3.html")), HasSubstr("Quick"));
}

/// Every table of the documents is made from the results beside it: making them again changes
/// nothing.
TEST(Reproduce, TheDocumentsComeFromTheCommittedResults) {
  const TempDir dir;
  const fs::path copy = dir.file("reproductions");
  fs::create_directories(copy);
  int results = 0;
  for (const auto& entry : fs::directory_iterator(kSource + "/docs/reproductions"))
    if (entry.path().extension() == ".json") {
      fs::copy(entry.path(), copy / entry.path().filename());
      ++results;
    }
  ASSERT_GT(results, 0);
  const auto run = sotto({"reproduce", "--render", copy.string()});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(TempDir::read(copy.string() + ".md"), TempDir::read(kSource + "/docs/reproductions.md"))
      << "docs/reproductions.md: run `sotto reproduce --render docs/reproductions`";
  int documents = 0;
  for (const auto& entry : fs::directory_iterator(kSource + "/docs/reproductions")) {
    if (entry.path().extension() != ".md") continue;
    EXPECT_EQ(TempDir::read(copy / entry.path().filename()), TempDir::read(entry.path()))
        << entry.path() << ": run `sotto reproduce --render docs/reproductions`";
    ++documents;
  }
  EXPECT_EQ(documents, results);
  // Full runs only, with their command.
  for (const auto& entry : fs::directory_iterator(kSource + "/docs/reproductions")) {
    if (entry.path().extension() != ".json") continue;
    const auto json = nlohmann::json::parse(TempDir::read(entry.path()));
    EXPECT_FALSE(json["quick"].get<bool>()) << entry.path();
    EXPECT_THAT(json["command"].get<std::string>(), HasSubstr("sotto reproduce "));
  }
}

}  // namespace
}  // namespace sotto::testing
