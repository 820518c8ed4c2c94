// The `reproduce` verb from the outside, and that the documents come from the committed results.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/support/command.hpp"

namespace sotto::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kSource = SOTTO_SOURCE_DIR;

TEST(Reproduce, ListsWhatThereIs) {
  const auto run = sotto({"reproduce list"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("srm-table2"), HasSubstr("adp-fig2")));
}

TEST(Reproduce, UnknownNamesAndMissingDataSayWhatToDo) {
  const auto unknown = sotto({"reproduce nothing-at-all"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("sotto reproduce list"));
  const TempDir dir;
  const auto missing =
      sotto({"reproduce srm-table2 --quick --data", dir.file(""), "--out", dir.file("o")});
  EXPECT_EQ(missing.code, 6);
  EXPECT_THAT(missing.err, AllOf(HasSubstr("a9a.gz"), HasSubstr("--data")));
}

TEST(Reproduce, WritesResultsAndPages) {
  const TempDir dir;
  const auto run = sotto({"reproduce nonstationary-fig3 --quick --out", dir.file("out")});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto json = nlohmann::json::parse(TempDir::read(dir.file("out/nonstationary-fig3.json")));
  EXPECT_EQ(json["command"], "sotto reproduce nonstationary-fig3 --quick");
  EXPECT_TRUE(json["quick"]);
  EXPECT_FALSE(json["machine"].get<std::string>().empty());
  for (const char* name : {"nonstationary-fig3.csv", "nonstationary-fig3.html", "index.html"})
    EXPECT_TRUE(fs::exists(dir.file(std::string("out/") + name))) << name;
  EXPECT_THAT(TempDir::read(dir.file("out/nonstationary-fig3.html")), HasSubstr("Quick"));
}

const std::string kStudies = kSource + "/docs/studies";

bool is_made(const std::string& text) { return text.starts_with("<!-- Made by"); }

/// Every table of the documents is made from the results beside it, and every number that prose
/// cites: making them again changes nothing.
TEST(Reproduce, TheDocumentsComeFromTheCommittedResults) {
  const TempDir dir;
  const fs::path copy = dir.file("studies");
  fs::create_directories(copy);
  int results = 0;
  for (const auto& entry : fs::directory_iterator(kStudies)) {
    const bool json = entry.path().extension() == ".json";
    const bool prose =
        entry.path().extension() == ".md" && !is_made(TempDir::read(entry.path().string()));
    if (json || prose) fs::copy(entry.path(), copy / entry.path().filename());
    results += json ? 1 : 0;
  }
  ASSERT_GT(results, 0);
  const auto run = sotto({"reproduce --render", copy.string()});
  ASSERT_EQ(run.code, 0) << run.err;
  int made = 0;
  for (const auto& entry : fs::directory_iterator(kStudies)) {
    if (entry.path().extension() != ".md") continue;
    const std::string text = TempDir::read(entry.path().string());
    EXPECT_EQ(TempDir::read((copy / entry.path().filename()).string()), text)
        << entry.path() << ": run `sotto reproduce --render docs/studies`";
    made += is_made(text) ? 1 : 0;
  }
  EXPECT_EQ(made, results + 1);  // and the index
  // Full runs only, with their command.
  for (const auto& entry : fs::directory_iterator(kStudies)) {
    if (entry.path().extension() != ".json") continue;
    const auto json = nlohmann::json::parse(TempDir::read(entry.path()));
    EXPECT_FALSE(json["quick"].get<bool>()) << entry.path();
    EXPECT_THAT(json["command"].get<std::string>(), HasSubstr("sotto reproduce "));
  }
}

/// A mean with its spread that somebody typed would be a second truth.
TEST(Reproduce, ProseHasNoMeasurementThatIsNotCited) {
  const std::regex citation("\\[[^\\[\\]]*\\]\\([a-z0-9-]+\\.md\\s+\"[^\"]+\"\\)");
  int cited = 0;
  for (const auto& entry : fs::directory_iterator(kStudies)) {
    if (entry.path().extension() != ".md") continue;
    const std::string text = TempDir::read(entry.path().string());
    if (is_made(text)) continue;
    cited += static_cast<int>(
        std::distance(std::sregex_iterator(text.begin(), text.end(), citation), {}));
    EXPECT_THAT(std::regex_replace(text, citation, ""), Not(HasSubstr("±"))) << entry.path();
  }
  EXPECT_GT(cited, 10);
}

}  // namespace
}  // namespace sotto::testing
