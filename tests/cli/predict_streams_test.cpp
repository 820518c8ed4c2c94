// What `predict` reads and writes besides plain files, and what it makes of models that somebody
// else wrote.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/child.hpp"
#include "tests/support/gzip.hpp"
#include "tests/support/predictions.hpp"

namespace sotto::testing {
namespace {

using ::testing::HasSubstr;

class PredictionStreams : public Predictions {};
class StrangersModels : public Predictions {};

TEST_F(PredictionStreams, GzipInAndOut) {
  const std::string plain = predicted({}, new_patients());
  const std::string packed = dir_.write("new.csv.gz", gzip(TempDir::read(new_patients())));
  const auto run = sotto({"predict", packed, model_, file("out.csv.gz")});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto unpacked = in_a_shell([&](const std::string& redirected) {
    return "zcat " + in_quotes(file("out.csv.gz")) + redirected;
  });
  EXPECT_EQ(unpacked.out, plain);
}

TEST_F(PredictionStreams, StandardInputAndOutput) {
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
TEST_F(PredictionStreams, StreamsAreFilesToo) {
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

TEST_F(PredictionStreams, StreamsAreWrittenToAndNotReplaced) {
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

TEST_F(PredictionStreams, AJournalIsNoPlaceForMessages) {
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
TEST_F(PredictionStreams, AWaitForAReaderEnds) {
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

TEST_F(PredictionStreams, AWaitForStandardInputEnds) {
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
TEST_F(StrangersModels, ClassNamesForgeNoLines) {
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
TEST_F(StrangersModels, ASchemaIsTheModelsOwn) {
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
TEST_F(StrangersModels, MarksOfDirectionArePartsOfNames) {
  auto json = nlohmann::json::parse(TempDir::read(model_));
  std::string schema = json["schema"];
  schema.replace(schema.find("<30"), 3, "\u202bken\u202c");
  json["schema"] = schema;
  json["class_names"][1] = "\u202bken\u202c";
  const auto run =
      sotto({"predict", new_patients(), dir_.write("m.json", json.dump()), file("out.csv")});
  EXPECT_EQ(run.code, 0) << run.err;
}

TEST_F(StrangersModels, AClassIsOneOfTheModels) {
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
TEST_F(PredictionStreams, MemoryDoesNotGrowWithTheFile) {
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

}  // namespace
}  // namespace sotto::testing
