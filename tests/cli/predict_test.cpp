// Scores that people can act on: files without labels, ids, lists, flags, streams.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/child.hpp"
#include "tests/support/command.hpp"
#include "tests/support/gzip.hpp"
#include "tests/support/persons.hpp"

namespace sotto::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// Not std::quoted.
std::string in_quotes(const std::string& path) { return ::sotto::testing::quoted(path); }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Of lines without quotes.
std::vector<std::string> column(const std::string& text, const std::string& name) {
  std::vector<std::string> values;
  std::size_t place = 0;
  for (const std::string& line : lines_of(text)) {
    std::vector<std::string> fields;
    std::istringstream stream(line);
    for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
    if (values.empty()) {
      const auto found = std::find(fields.begin(), fields.end(), name);
      EXPECT_NE(found, fields.end()) << name << " in " << line;
      if (found == fields.end()) return {};
      place = static_cast<std::size_t>(found - fields.begin());
    }
    values.push_back(fields.at(place));
  }
  values.erase(values.begin());
  return values;
}

/// Patients with stays: the guarantee is a patient's.
constexpr const char* kStays = R"([file]
header = true
missing = ["?", ""]
[[column]]
name = "patient_nbr"
kind = "unit"
[[column]]
name = "encounter_id"
kind = "ignore"
[[column]]
name = "age"
kind = "numeric"
min = 0
max = 100
[[column]]
name = "readmitted"
kind = "label"
positive = "<30"
negative = ["NO", ">30"]
)";

class Predictions : public ::testing::Test {
 protected:
  Predictions() {
    std::string rows = "encounter_id,patient_nbr,age,readmitted\n";
    for (int i = 0; i < 90; ++i)
      rows += "e" + std::to_string(i) + ",p" + std::to_string(i % 30) + "," +
              std::to_string(i % 3 == 0 ? 90 : 20) +
              (i % 3 == 0   ? ",<30\n"
               : i % 3 == 1 ? ",NO\n"
                            : ",>30\n");
    rows_ = dir_.write("stays.csv", rows);
    schema_ = dir_.write("stays.toml", kStays);
    model_ = file("model.json");
    const auto run = sotto({"train --method gd --bias --schema", schema_, rows_, model_});
    EXPECT_EQ(run.code, 0) << run.err;
  }

  std::string file(const std::string& name) const { return dir_.file(name); }
  /// New patients: no label, no person, a column more, and ages that order them: e2, e3, e1, e0.
  std::string new_patients() const {
    return dir_.write("new.csv",
                      "age,ward,encounter_id\n10,A,e0\n50,\"B, left\",e1\n90,\"the \"\"C\"\"\",e2\n"
                      "70,D,e3\n");
  }
  std::string predicted(const Words& more, const std::string& rows) const {
    const auto run = sotto(Words{"predict", rows, model_, file("out.csv")} + more);
    EXPECT_EQ(run.code, 0) << run.err;
    return TempDir::read(file("out.csv"));
  }

  TempDir dir_;
  std::string rows_, schema_, model_;
};

TEST_F(Predictions, RowsNeedNeitherLabelsNorPersonsAndMayHaveMoreColumns) {
  const auto run = sotto({"predict", new_patients(), model_, file("out.csv")});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, "") << "no labels, no metrics";
  EXPECT_THAT(run.err, AllOf(HasSubstr("not used: 'ward'."), HasSubstr("no labels")))
      << "encounter_id is declared to be ignored";
}

TEST_F(Predictions, UnknownColumnsAreNamedUpToALimit) {
  std::string header = "age", row = "50";
  for (int k = 0; k < 20; ++k) {
    header += ",x" + std::to_string(k);
    row += ",0";
  }
  const auto run = sotto(
      {"predict", dir_.write("wide.csv", header + "\n" + row + "\n"), model_, file("out.csv")});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("'x7' and 12 more"), Not(HasSubstr("x8"))));
}

TEST_F(Predictions, AHeaderAndTheFilesOrder) {
  const auto lines = lines_of(predicted({}, new_patients()));
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0], "row,prediction,probability");
  EXPECT_THAT(lines[1], ::testing::StartsWith("1,NO or >30,"));
  EXPECT_THAT(lines[3], ::testing::StartsWith("3,<30,0."));
}

TEST_F(Predictions, KeptColumnsComeFirstAndAreQuoted) {
  const auto lines = lines_of(predicted({"--keep ward,encounter_id"}, new_patients()));
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0], "ward,encounter_id,prediction,probability");
  EXPECT_THAT(lines[2], ::testing::StartsWith("\"B, left\",e1,"));
  EXPECT_THAT(lines[3], ::testing::StartsWith("\"the \"\"C\"\"\",e2,"));
  const auto typo =
      sotto({"predict --keep encounter_it", new_patients(), model_, file("other.csv")});
  EXPECT_EQ(typo.code, 2);
  EXPECT_THAT(typo.err, AllOf(HasSubstr("--keep"), HasSubstr("Did you mean 'encounter_id'")));
  EXPECT_FALSE(std::filesystem::exists(file("other.csv")));
  const std::string own = dir_.write("own.csv", "age,prediction\n5,x\n");
  EXPECT_EQ(sotto({"predict --keep prediction", own, model_, file("other.csv")}).code, 2);
}

TEST_F(Predictions, TheHighestRiskFirst) {
  const Words keep = "--keep encounter_id";
  EXPECT_THAT(column(predicted(keep + "--sort", new_patients()), "encounter_id"),
              ElementsAre("e2", "e3", "e1", "e0"));
  EXPECT_THAT(column(predicted(keep + "--top 2", new_patients()), "encounter_id"),
              ElementsAre("e2", "e3"));
  EXPECT_THAT(column(predicted(keep + "--top 100", new_patients()), "encounter_id").size(), 4u);
  EXPECT_EQ(sotto({"predict --top 0", new_patients(), model_, file("out.csv")}).code, 2);
  // The other class's probability turns the list round.
  const auto turned =
      column(predicted(keep + Words{"--sort --class", std::string("NO or >30")}, new_patients()),
             "encounter_id");
  EXPECT_THAT(turned, ElementsAre("e0", "e1", "e3", "e2"));
}

TEST_F(Predictions, EqualOnesKeepTheFilesOrder) {
  std::string rows = "age,encounter_id\n";
  for (int i = 0; i < 100; ++i)
    rows += std::to_string(i % 4 * 25) + ",e" + std::to_string(100 + i) + "\n";
  const std::string path = dir_.write("ties.csv", rows);
  const auto ids = column(predicted({"--sort --keep encounter_id"}, path), "encounter_id");
  ASSERT_EQ(ids.size(), 100u);
  for (int group = 0; group < 4; ++group)
    EXPECT_TRUE(std::is_sorted(ids.begin() + 25 * group, ids.begin() + 25 * group + 25));
  // Of 25 equal ones the first in the file are flagged.
  const auto flags = column(predicted({"--flag-share 0.1"}, path), "flagged");
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(flags[static_cast<std::size_t>(i)], i % 4 == 3 && i < 40 ? "1" : "0") << i;
}

TEST_F(Predictions, FlagsByThresholdOrByShare) {
  const auto all = column(predicted({}, new_patients()), "probability");
  const auto run =
      sotto({"predict --json --threshold", all[1], new_patients(), model_, file("out.csv")});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(nlohmann::json::parse(run.out), (nlohmann::json{{"rows", 4}, {"flagged", 3}}));
  EXPECT_THAT(column(TempDir::read(file("out.csv")), "flagged"), ElementsAre("0", "1", "1", "1"))
      << "at least";
  EXPECT_THAT(column(predicted({"--flag-share 0.5"}, new_patients()), "flagged"),
              ElementsAre("0", "0", "1", "1"));
  EXPECT_THAT(column(predicted({"--flag-share 0.26 --sort"}, new_patients()), "flagged"),
              ElementsAre("1", "1", "0", "0"))
      << "rounded up";
  EXPECT_THAT(column(predicted({"--flag-share 0.5 --top 3"}, new_patients()), "flagged"),
              ElementsAre("1", "1", "0"));
  for (const char* wrong : {"--flag-share=0", "--flag-share=5", "--threshold=2"})
    EXPECT_EQ(sotto({"predict", wrong, new_patients(), model_, file("o")}).code, 2) << wrong;
  EXPECT_EQ(
      sotto({"predict --threshold 0.5 --flag-share 0.1", new_patients(), model_, file("o")}).code,
      2);
}

TEST_F(Predictions, SortsWhatMemoryDoesNotHold) {
  std::string rows = "age,encounter_id\n";
  for (int i = 0; i < 30000; ++i)
    rows += std::to_string(i * 7919 % 101) + ",e" + std::to_string(i) + "\n";
  const std::string path = dir_.write("many.csv", rows);
  const Words keep = "--keep encounter_id";
  for (const Words& how : {Words("--sort"),
                           Words("--sort --flag-share 0.3"),
                           Words("--top 20000"),
                           Words("--flag-share 0.3")})
    EXPECT_EQ(predicted(keep + how + "--sort-memory 50KB", path), predicted(keep + how, path));
}

TEST_F(Predictions, ProbabilitiesOfAllClassesByName) {
  const std::string text = predicted({"--proba"}, new_patients());
  EXPECT_EQ(lines_of(text)[0], "row,prediction,probability of NO or >30,probability of <30");
  const auto low = column(text, "probability of NO or >30");
  const auto high = column(text, "probability of <30");
  for (std::size_t i = 0; i < low.size(); ++i)
    EXPECT_NEAR(std::stod(low[i]) + std::stod(high[i]), 1, 1e-12);
}

TEST_F(Predictions, MetricsOnlyWhereAllRowsHaveLabels) {
  const auto all = sotto({"predict", rows_, model_, file("out.csv")});
  EXPECT_THAT(all.out, AllOf(HasSubstr("Accuracy = 100.00% (90/90)"), HasSubstr("NO or >30")));
  const std::string some = dir_.write(
      "some.csv", "encounter_id,patient_nbr,age,readmitted\na,,50,<30\nb,?,20,\nc,1,20,?\n");
  const auto run = sotto({"predict", some, model_, file("out.csv")});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("2 of 3 rows have no label"));
  const std::string strange = dir_.write("strange.csv", "age,readmitted\n50,secret\n");
  const auto refused = sotto({"predict", strange, model_, file("other.csv")});
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(
      refused.err,
      AllOf(HasSubstr("strange.csv:2:2"), HasSubstr("leave it empty"), Not(HasSubstr("secret"))));
}

TEST_F(Predictions, FeaturesAreDemandedAndNothingIsHalfWritten) {
  const std::string without = dir_.write("without.csv", "encounter_id\ne1\n");
  const auto run = sotto({"predict", without, model_, file("out.csv")});
  EXPECT_EQ(run.code, 3);
  EXPECT_THAT(run.err, HasSubstr("no column 'age'"));
  std::string rows = "age\n";
  for (int i = 0; i < 1'500'000; ++i) rows += "50\n";  // more than a block
  const std::string bad = dir_.write("bad.csv", rows + "fifty\n5,5\n");
  const auto late = sotto({"predict", bad, model_, file("out.csv")});
  EXPECT_EQ(late.code, 3);
  EXPECT_THAT(
      late.err,
      AllOf(
          HasSubstr("bad.csv:1500002:1"), HasSubstr("bad.csv:1500003:2"), Not(HasSubstr("fifty"))));
  EXPECT_THAT(late.err, AllOf(HasSubstr("leave these rows out"), Not(HasSubstr("--no-refusals"))))
      << "an option that predict does not have";
  EXPECT_FALSE(std::filesystem::exists(file("out.csv")));
  for (const auto& entry : std::filesystem::directory_iterator(dir_.file("")))
    EXPECT_FALSE(entry.path().filename().string().starts_with(".sotto-"));
}

TEST_F(Predictions, ALongFileIsOneFile) {
  std::string rows = "age,encounter_id\n";
  for (int i = 0; i < 800'000; ++i)
    rows += std::to_string(i % 90) + ",e" + std::to_string(i) + "\n";
  const std::string path = dir_.write("long.csv", rows);
  const auto ids = column(predicted({"--keep encounter_id"}, path), "encounter_id");
  ASSERT_EQ(ids.size(), 800'000u);
  for (std::size_t i = 0; i < ids.size(); i += 997) ASSERT_EQ(ids[i], "e" + std::to_string(i));
  EXPECT_EQ(column(predicted({}, path), "row").back(), "800000");
}

TEST_F(Predictions, GzipInAndOut) {
  const std::string plain = predicted({}, new_patients());
  const std::string packed = dir_.write("new.csv.gz", gzip(TempDir::read(new_patients())));
  const auto run = sotto({"predict", packed, model_, file("out.csv.gz")});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto unpacked = in_a_shell([&](const std::string& redirected) {
    return "zcat " + in_quotes(file("out.csv.gz")) + redirected;
  });
  EXPECT_EQ(unpacked.out, plain);
}

TEST_F(Predictions, StandardInputAndOutput) {
  const std::string plain = predicted({"--sort"}, rows_);
  const auto piped = in_a_shell([&](const std::string& redirected) {
    return "cat " + in_quotes(rows_) + " | " +
           shell_line({"predict --sort -", model_, std::string("-")}) + redirected;
  });
  EXPECT_EQ(piped.code, 0) << piped.err;
  EXPECT_EQ(piped.out, plain);
  EXPECT_THAT(piped.err, HasSubstr("Accuracy = ")) << "not among the predictions";
  EXPECT_FALSE(std::filesystem::exists("-"));
  const auto named = sotto({"predict --sort", rows_, model_, "/dev/stdout"});
  EXPECT_EQ(named.out, plain);
  // Packed input has a name; and it has no end that could be known before.
  const auto packed = in_a_shell([&](const std::string& redirected) {
    return "gzip -c " + in_quotes(rows_) + " | " +
           shell_line({"predict", std::string("-"), model_, file("o")}) + redirected;
  });
  EXPECT_EQ(packed.code, 3);
  EXPECT_THAT(packed.err, HasSubstr("zcat"));
  const auto endless = in_a_shell([&](const std::string& redirected) {
    return "yes 50 | " +
           shell_line({"predict --max-file 10MB", std::string("-"), model_, file("o")}) +
           redirected;
  });
  EXPECT_EQ(endless.code, 3);
}

// A stream may lead to a file: what is read is not replaced, and what can't be made again stays.
TEST_F(Predictions, StreamsAreFilesToo) {
  const std::string rows = TempDir::read(rows_);
  const auto onto_its_rows = in_a_shell([&](const std::string& redirected) {
    return shell_line({"predict", std::string("-"), model_, rows_}) + redirected + " < " +
           in_quotes(rows_);
  });
  EXPECT_EQ(onto_its_rows.code, 2) << onto_its_rows.err;
  EXPECT_EQ(TempDir::read(rows_), rows);
  const std::string model = TempDir::read(model_);
  const std::string other = dir_.write("other.json", model);
  const std::string err = file("said");
  for (const std::string out : {"-", "/dev/stdout"}) {
    const std::string line = shell_line({"predict", rows_, model_, out}) + " 2> " + in_quotes(err) +
                             " >> " + in_quotes(other);
    EXPECT_EQ(WEXITSTATUS(std::system(line.c_str())), 2) << out;
    EXPECT_THAT(TempDir::read(err), HasSubstr("is a model"));
    EXPECT_EQ(TempDir::read(other), model);
  }
}

TEST_F(Predictions, StreamsAreWrittenToAndNotReplaced) {
  const std::string log = dir_.write("log", "hello\n");
  const std::string plain = predicted({}, rows_);
  for (const std::string out : {"/dev/fd/1", "/dev/stdout", "/dev/fd/3"}) {
    dir_.write("log", "hello\n");
    const std::string line = shell_line({"predict", rows_, model_, out}) + " >> " + in_quotes(log) +
                             " 3>> " + in_quotes(log) + " 2> " + in_quotes(file("said"));
    EXPECT_EQ(WEXITSTATUS(std::system(line.c_str())), 0) << TempDir::read(file("said"));
    EXPECT_TRUE(TempDir::read(log).starts_with("hello\n" + plain)) << TempDir::read(log);
  }
}

TEST_F(Predictions, AJournalIsNoPlaceForMessages) {
  const std::string journal =
      dir_.write("j", "{\"run\":\"r\",\"open\":\"gaussian(1)\",\"delta\":1e-5}\n");
  const std::string before = TempDir::read(journal);
  const std::string line = shell_line({"predict", rows_, model_, file("out.csv")}) + " >> " +
                           in_quotes(journal) + " 2> " + in_quotes(file("said"));
  EXPECT_EQ(WEXITSTATUS(std::system(line.c_str())), 2);
  EXPECT_THAT(TempDir::read(file("said")), HasSubstr("redirected to a journal"));
  EXPECT_EQ(TempDir::read(journal), before);
}

// Nobody reads what is written, and the first signal ends it.
TEST_F(Predictions, AWaitForAReaderEnds) {
  std::string rows = TempDir::read(rows_);
  const std::size_t header = rows.find('\n') + 1;
  const std::string lines = rows.substr(header);
  for (int k = 0; k < 200; ++k) rows += lines;
  const std::string many = dir_.write("many.csv", rows);
  ASSERT_EQ(::mkfifo(file("pipe").c_str(), 0600), 0);
  const int pipe = ::open(file("pipe").c_str(), O_RDWR);
  const pid_t child =
      started(Words{std::string(SOTTO_BINARY), "predict", many, model_, file("pipe")}, "/dev/null");
  ASSERT_TRUE(wait_for_handler(child, SIGINT));
  ASSERT_TRUE(wait_for_sleep(child));
  ::kill(child, SIGINT);
  EXPECT_EQ(ended(child), 130);
  ::close(pipe);
}

TEST_F(Predictions, AWaitForStandardInputEnds) {
  ASSERT_EQ(::mkfifo(file("pipe").c_str(), 0600), 0);
  const int pipe = ::open(file("pipe").c_str(), O_RDWR);  // nobody writes, and it does not end
  const int before = ::dup(STDIN_FILENO);
  ::dup2(pipe, STDIN_FILENO);
  const pid_t child = started(
      Words{std::string(SOTTO_BINARY), "predict", std::string("-"), model_, file("out.csv")},
      "/dev/null");
  ::dup2(before, STDIN_FILENO);
  ::close(before);
  ASSERT_TRUE(wait_for_handler(child, SIGINT));
  ASSERT_TRUE(wait_for_sleep(child));
  ::kill(child, SIGINT);
  EXPECT_EQ(ended(child), 130);
  ::close(pipe);
  EXPECT_FALSE(std::filesystem::exists(file("out.csv")));
}

// A model may be a stranger's.
TEST_F(Predictions, ClassNamesForgeNoLines) {
  for (const char* name : {R"(p\nr9,n,0.9)", R"(\u001b[31mX)", R"(\u2028abc)", R"(a\u0000b)"}) {
    auto json = nlohmann::json::parse(TempDir::read(model_));
    std::string schema = json["schema"];
    schema.replace(schema.find("<30"), 3, name);
    json["schema"] = schema;
    json["class_names"] = nlohmann::json::array();
    const auto run =
        sotto({"predict", new_patients(), dir_.write("m.json", json.dump()), file("out.csv")});
    EXPECT_EQ(run.code, 3) << name << run.err;
    EXPECT_FALSE(std::filesystem::exists(file("out.csv")));
  }
}

// Weights belong to features and classes in their order.
TEST_F(Predictions, ASchemaIsTheModelsOwn) {
  const std::string text = kStays;
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string other = text;
    other.replace(other.find(from), from.size(), to);
    return other;
  };
  const std::string swapped = changed("positive = \"<30\"\nnegative = [\"NO\", \">30\"]",
                                      "positive = [\"NO\", \">30\"]\nnegative = \"<30\"");
  const std::string renamed = changed("name = \"age\"", "name = \"ward\"");
  const std::string other_header =
      dir_.write("ward.csv", "ward,encounter_id,readmitted\n1,e0,NO\n");
  for (const std::string& schema : {swapped, renamed}) {
    const std::string path = dir_.write("other.toml", schema);
    const std::string rows = schema == renamed ? other_header : rows_;
    for (const char* verb : {"predict", "evaluate"}) {
      Words words = {verb, rows, model_};
      if (std::string(verb) == "predict") words = words + Words{file("out.csv")};
      const auto run = sotto(words + Words{"--schema", path});
      EXPECT_EQ(run.code, 2) << run.err;
      EXPECT_THAT(run.err, HasSubstr("not the one that the model was trained with"));
    }
    auto json = nlohmann::json::parse(TempDir::read(model_));
    json["schema"] = schema;
    const auto run = sotto({"predict", rows, dir_.write("m.json", json.dump()), file("out.csv")});
    EXPECT_EQ(run.code, 3) << run.err;
    EXPECT_THAT(run.err, HasSubstr("contradicts itself"));
  }
  EXPECT_EQ(sotto({"predict", rows_, model_, file("out.csv"), "--schema", schema_}).code, 0);
}

// Words of some languages have marks that say in which direction they are read.
TEST_F(Predictions, MarksOfDirectionArePartsOfNames) {
  auto json = nlohmann::json::parse(TempDir::read(model_));
  std::string schema = json["schema"];
  schema.replace(schema.find("<30"), 3, "\u202bken\u202c");
  json["schema"] = schema;
  json["class_names"][1] = "\u202bken\u202c";
  const auto run =
      sotto({"predict", new_patients(), dir_.write("m.json", json.dump()), file("out.csv")});
  EXPECT_EQ(run.code, 0) << run.err;
}

TEST_F(Predictions, AClassIsOneOfTheModels) {
  auto json = nlohmann::json::parse(TempDir::read(model_));
  json["class_names"] = {"NO", "<30", "evil"};
  const std::string strange = dir_.write("m.json", json.dump());
  const auto run = sotto({"predict --class evil", new_patients(), strange, file("out.csv")});
  EXPECT_NE(run.code, 0) << run.err;
  EXPECT_NE(run.code, 7) << run.err;
  EXPECT_FALSE(std::filesystem::exists(file("out.csv")));
  EXPECT_EQ(sotto({"predict --keep age,age", new_patients(), model_, file("out.csv")}).code, 2);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(Predictions, MemoryDoesNotGrowWithTheFile) {
  std::string rows = "age,encounter_id\n";
  for (int i = 0; i < 100'000; ++i) rows += std::to_string(i % 90) + ",encounter\n";
  const std::string part = dir_.write("part.csv", rows.substr(rows.find('\n') + 1));
  // 170 MB of rows; the program itself needs less than 150 MB of addresses beside its threads.
  const auto run = in_a_shell([&](const std::string& redirected) {
    return "(echo age,encounter_id; for i in $(seq 100); do cat " + in_quotes(part) +
           "; done) | (ulimit -v 400000; " +
           shell_line({"predict --keep encounter_id --top 3",
                       std::string("-"),
                       model_,
                       std::string("-")}) +
           redirected + ")";
  });
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(lines_of(run.out).size(), 4u);
}
#endif

TEST_F(Predictions, SeveralClassesOfANetwork) {
  std::string schema = kStays;
  schema.replace(schema.find("positive"), schema.npos, "classes = [\"NO\", \">30\", \"<30\"]\n");
  schema.replace(schema.find("\"unit\""), 6, "\"ignore\"");
  const std::string model = file("softmax.json");
  const auto run = sotto({"train --method sgd --model softmax --schema",
                          dir_.write("three.toml", schema),
                          rows_,
                          model});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto scored = sotto({"predict --proba", new_patients(), model, file("out.csv")});
  ASSERT_EQ(scored.code, 0) << scored.err;
  EXPECT_EQ(lines_of(TempDir::read(file("out.csv")))[0],
            "row,prediction,probability of NO,probability of >30,probability of <30");
  const auto unsaid = sotto({"predict --sort", new_patients(), model, file("out.csv")});
  EXPECT_EQ(unsaid.code, 2);
  EXPECT_THAT(unsaid.err, AllOf(HasSubstr("--class"), HasSubstr("NO, >30, <30")));
  const auto sorted = sotto(
      {"predict --top 1 --keep encounter_id --class <30", new_patients(), model, file("out.csv")});
  ASSERT_EQ(sorted.code, 0) << sorted.err;
  EXPECT_THAT(column(TempDir::read(file("out.csv")), "encounter_id"), ElementsAre("e2"));
  EXPECT_EQ(sotto({"predict --class none", new_patients(), model, file("out.csv")}).code, 2);
}

TEST_F(Predictions, OtherFormatsNumberTheirRows) {
  const std::string rows = dir_.write("rows.svm", small_libsvm(20));
  ASSERT_EQ(sotto({"train --method gd", rows, file("linear.json")}).code, 0);
  const auto run = sotto({"predict --top 2", rows, file("linear.json"), file("out.csv")});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(lines_of(TempDir::read(file("out.csv"))).size(), 3u);
  const auto kept = sotto({"predict --keep id", rows, file("linear.json"), file("out.csv")});
  EXPECT_EQ(kept.code, 2);
  EXPECT_THAT(kept.err, AllOf(HasSubstr("--keep"), HasSubstr("libsvm"), HasSubstr("'row'")));
  EXPECT_EQ(sotto({"predict", std::string("-"), file("linear.json"), file("out.csv")}).code, 2);
}

TEST_F(Predictions, WithoutAHeaderTheSchemaSaysWhichColumnIsWhich) {
  std::string schema = kStays;
  schema.replace(schema.find("header = true"), 13, "header = false");
  const std::string path = dir_.write("bare.toml", schema);
  const std::string rows = dir_.write("bare.csv", ",e0,10,\n,e1,90,\n");
  EXPECT_THAT(
      column(predicted({"--sort --keep encounter_id --schema", path}, rows), "encounter_id"),
      ElementsAre("e1", "e0"));
  const auto narrow =
      sotto({"predict --schema", path, dir_.write("narrow.csv", "p,e0,10\n"), model_, file("o")});
  EXPECT_EQ(narrow.code, 3);
  EXPECT_THAT(narrow.err, HasSubstr("empty"));
}

TEST_F(Predictions, NumbersAreSortedAndFlaggedToo) {
  const std::string schema = dir_.write("numbers.toml", R"([file]
header = true
[[column]]
name = "age"
kind = "numeric"
min = 0
max = 100
[[column]]
name = "days"
kind = "label"
min = 0
max = 10
)");
  std::string rows = "age,days\n";
  for (int i = 0; i < 50; ++i) rows += std::to_string(i) + "," + std::to_string(i / 10) + "\n";
  ASSERT_EQ(sotto({"train --method gd --loss squared --bias --schema",
                   schema,
                   dir_.write("days.csv", rows),
                   file("days.json")})
                .code,
            0);
  const auto run = sotto({"predict --sort --threshold 1",
                          dir_.write("a.csv", "age\n0\n90\n"),
                          file("days.json"),
                          file("out.csv")});
  ASSERT_EQ(run.code, 0) << run.err;
  const std::string text = TempDir::read(file("out.csv"));
  EXPECT_EQ(lines_of(text)[0], "row,prediction,flagged");
  EXPECT_THAT(column(text, "row"), ElementsAre("2", "1"));
  EXPECT_EQ(sotto({"predict --proba", rows_, file("days.json"), file("out.csv")}).code, 2);
}

}  // namespace
}  // namespace sotto::testing
