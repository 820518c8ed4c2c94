// Text from files can't forge a line of the program's output, nor hide what stands beside it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sotto/core/digest.hpp"
#include "tests/support/command.hpp"

namespace sotto::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kForged = "dp-gd: epsilon 0.001 at delta 1e-09";
const std::string kText = "x\n" + kForged + "\n\u202ey";

/// Nothing that was printed has the forged text as a line, or the override.
void expect_no_forged_line(const CommandResult& result, const std::string& what) {
  std::istringstream lines(result.out + "\n" + result.err);
  for (std::string line; std::getline(lines, line);)
    EXPECT_THAT(line, Not(::testing::StartsWith(kForged))) << what;
  EXPECT_THAT(result.out + result.err, Not(HasSubstr("\u202e"))) << what;
}

class Lines : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto run =
        sotto({"train --quiet --epsilon 2 --delta 1e-5 --dim 2 --row-norm 1.5 --steps 3 --record",
               dir_.file("run.json"),
               rows_,
               dir_.file("model.json")});
    ASSERT_EQ(run.code, 0) << run.err;
  }
  json read(const std::string& name) const { return json::parse(TempDir::read(dir_.file(name))); }

  TempDir dir_;
  std::string rows_ = dir_.write("rows.svm", small_libsvm(60));
};

/// The journal with a changed line, and all checksums computed again.
std::string chained_again(const std::string& text, const std::function<void(json&)>& edit) {
  std::istringstream lines(text);
  std::string before, result;
  for (std::string line; std::getline(lines, line);) {
    json object = json::parse(line);
    object.erase("chain");
    const json number = object["line"];
    object.erase("line");
    edit(object);
    std::string body = object.dump();
    body.back() = ',';
    body += "\"line\":" + number.dump();
    before = sha256(before + "\n" + body);
    result += body + ",\"chain\":\"" + before + "\"}\n";
  }
  return result;
}

TEST_F(Lines, OfAJournalAreNotForged) {
  const std::string text =
      chained_again(TempDir::read(dir_.file("model.json.journal")), [](json& line) {
        if (line.contains("open")) line["method"] = kText;
      });
  const std::string path = dir_.write("forged.journal", text);
  const auto told = sotto({"account --journal", path});
  ASSERT_EQ(told.code, 0) << told.err;
  expect_no_forged_line(told, "account");
  EXPECT_THAT(told.out, HasSubstr("\\x0a")) << "it is shown as what it is";
  const auto object = sotto({"account --journal", path, "--json"});
  EXPECT_EQ(json::parse(object.out)["runs"][0]["method"], kText) << "and for machines the same";
  expect_no_forged_line(object, "account --json");
}

TEST_F(Lines, OfARecordAreNotForged) {
  const json record = read("run.json");
  for (const char* path : {"/method",
                           "/neighbours",
                           "/plan",
                           "/loss",
                           "/privacy/accountant",
                           "/privacy/rule",
                           "/privacy/neighbours",
                           "/privacy/unit",
                           "/privacy/events",
                           "/privacy/journal/run",
                           "/drawn/0/sampling",
                           "/settings/0/value",
                           "/options/0/value",
                           "/command/0"}) {
    json edited = record;
    edited[json::json_pointer(path)] = kText;
    const std::string file = dir_.write("forged.json", edited.dump());
    for (const Words& words : {Words{"verify", file, "--journal", dir_.file("model.json.journal")},
                               {"verify", file, "--json"},
                               {"report", file, "--out", dir_.file("page.html")}}) {
      const auto result = sotto(words);
      EXPECT_THAT(result.code, ::testing::AnyOf(0, 3, 5)) << path << words[0] << result.err;
      expect_no_forged_line(result, words[0] + path);
    }
  }
}

TEST_F(Lines, OfAModelAreNotForged) {
  const json model = read("model.json");
  for (const char* path :
       {"/method", "/loss", "/regularizer", "/privacy/neighbours", "/privacy/accountant"}) {
    json edited = model;
    edited[json::json_pointer(path)] = kText;
    const std::string file = dir_.write("forged.json", edited.dump());
    expect_no_forged_line(sotto({"predict", rows_, file, dir_.file("p")}), path);
    expect_no_forged_line(sotto({"export", file, dir_.file("m.onnx")}), path);
    expect_no_forged_line(sotto({"evaluate", rows_, file}), path);
    expect_no_forged_line(sotto({"recalibrate", rows_, file, dir_.file("new.json")}), path);
    expect_no_forged_line(sotto({"show", file}), path);
    expect_no_forged_line(sotto({"show --json", file}), path);
  }
}

TEST_F(Lines, OfASchemaOrAConfigurationAreNotForged) {
  const std::string quoted_text = json(kText).dump();
  const std::string schema =
      dir_.write("s.toml",
                 "[[column]]\nname = " + quoted_text + "\nkind = " + quoted_text + "\n[columns." +
                     quoted_text + "]\nkind = " + quoted_text + "\n");
  expect_no_forged_line(sotto({"data info --schema", schema, dir_.write("d.csv", "a,b\n1,2\n")}),
                        "schema");
  const std::string config = dir_.write("c.toml", quoted_text + " = 1\nmethod = " + quoted_text);
  expect_no_forged_line(sotto({"train --config", config, rows_, dir_.file("m")}), "config");
}

TEST_F(Lines, OfAFilesNameAreNotForged) {
  for (const Words& words : {Words{"verify", dir_.file(kText)},
                             {"account --journal", dir_.file(kText)},
                             {"data info --dim 1", dir_.write("n\n" + kForged, "1 1:x\n2 2:2\n")}})
    expect_no_forged_line(sotto(words), words[0]);
}

}  // namespace
}  // namespace sotto::testing
