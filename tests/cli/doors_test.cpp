// The program's edges: signals, full and closed outputs, hostile names and absurd files.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/child.hpp"
#include "tests/support/command.hpp"

namespace sotto::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

Words train(const TempDir& dir, const Words& more) {
  return short_training(dir, "--expected-batch 20" + more);
}

Words program(const Words& arguments) { return std::string(SOTTO_BINARY) + arguments; }

TEST(Signals, AllThatAskForAnEndLeaveACheckpoint) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGUSR1}) {
    const TempDir dir;
    const auto words = train(dir, {"--steps 2000000 --checkpoint", dir.file("c"), "--every 50"});
    const pid_t child = started(program(words), "/dev/null");
    ASSERT_TRUE(wait_for_file(dir.file("c")));
    ::kill(child, number);
    EXPECT_EQ(ended(child), 130) << number;
    EXPECT_TRUE(fs::exists(dir.file("c"))) << number;
    EXPECT_FALSE(fs::exists(dir.file("model.json"))) << number;
    for (const auto& entry : fs::directory_iterator(dir.file("")))
      EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr(".tmp"))) << number;
    const auto told = sotto({"account --journal", dir.file("model.json.journal")});
    EXPECT_EQ(told.code, 0) << told.err;
  }
}

// As `timeout` sends them, to the program and then to its group: one request, which is granted.
TEST(Signals, TwoAtOnceAreOneRequest) {
  const TempDir dir;
  const auto words = train(dir, {"--steps 2000000 --checkpoint", dir.file("c"), "--every 50"});
  const pid_t child = started(program(words), "/dev/null");
  ASSERT_TRUE(wait_for_file(dir.file("c")));
  for (const int number : {SIGTERM, SIGINT, SIGTERM, SIGHUP, SIGINT}) ::kill(child, number);
  EXPECT_EQ(ended(child), 130);
  const auto told = sotto({"account --json --journal", dir.file("model.json.journal")});
  ASSERT_EQ(told.code, 0) << told.err;
  EXPECT_TRUE(nlohmann::json::parse(told.out)["runs"][0]["closed"]);
}

TEST(Signals, AReadThatWaitsEnds) {
  const TempDir dir;
  ASSERT_EQ(::mkfifo(dir.file("pipe").c_str(), 0600), 0);
  const pid_t child = started(program({"verify", dir.file("pipe")}), "/dev/null");
  ASSERT_TRUE(wait_for_handler(child, SIGTERM));
  ASSERT_TRUE(wait_for_sleep(child));
  ::kill(child, SIGTERM);
  EXPECT_EQ(ended(child), 130);
}

TEST(Records, WithBytesThatAreNoJsonAreRefused) {
  const TempDir dir;
  ASSERT_EQ(sotto(train(dir, {"--steps 3 --record", dir.file("run.json")})).code, 0);
  const std::string record = TempDir::read(dir.file("run.json"));
  ASSERT_EQ(sotto({"verify", dir.file("run.json")}).code, 0);
  for (const std::string& text :
       {"\xEF\xBB\xBF" + record, record + std::string(1, '\0'), record + std::string("\0{}", 3)})
    for (const char* verb : {"verify", "report"})
      EXPECT_EQ(sotto({verb, dir.write("changed.json", text)}).code, 3) << verb;
}

TEST(Outputs, AFullStandardOutputIsAnError) {
  for (const Words& words : {Words{"methods"}, {"--help"}, {"train --help"}}) {
    const std::string line = shell_line(words);
    EXPECT_EQ(WEXITSTATUS(std::system((line + " >/dev/full 2>/dev/null").c_str())), 6) << line;
  }
}

TEST(Outputs, AClosedOrFullStandardErrorLosesNoModel) {
  for (const char* redirection : {"2>&-", "2>/dev/full", ">&- 2>&-"}) {
    const TempDir dir;
    const std::string line = shell_line(train(dir, {"--steps 3"}));
    const int code = WEXITSTATUS(std::system((line + " " + redirection).c_str()));
    EXPECT_TRUE(fs::exists(dir.file("model.json"))) << redirection;
    EXPECT_THAT(code, ::testing::AnyOf(0, 6)) << redirection;
  }
}

TEST(Outputs, ABrokenPipeIsAnErrorAndTheModelIsThere) {
  const TempDir dir;
  const std::string line = shell_line(train(dir, {"--steps 3 --json"}));
  const std::string script =
      "(" + line + " 2>/dev/null; echo $? >" + quoted(dir.file("code")) + ") | true";
  EXPECT_EQ(std::system(script.c_str()), 0);
  EXPECT_TRUE(fs::exists(dir.file("model.json")));
  EXPECT_THAT(TempDir::read(dir.file("code")), ::testing::AnyOf("0\n", "6\n"));
}

TEST(Outputs, AFileSizeLimitIsAnError) {
  const TempDir dir;
  const auto result = sotto(train(dir, {"--steps 300"}), "ulimit -f 1;");
  EXPECT_EQ(result.code, 6) << result.err;
}

TEST(Modes, PredictionsAndConvertedRowsAreTheirOwnersAlone) {
  const TempDir dir;
  ASSERT_EQ(sotto(train(dir, {"--steps 3"}), "umask 022;").code, 0);
  const auto mode = [&](const std::string& name) {
    struct stat facts {};
    EXPECT_EQ(::stat(dir.file(name).c_str(), &facts), 0) << name;
    return facts.st_mode & 0777;
  };
  ASSERT_EQ(
      sotto({"predict", dir.file("rows.svm"), dir.file("model.json"), dir.file("p")}, "umask 022;")
          .code,
      0);
  EXPECT_EQ(mode("p"), 0600U);
  EXPECT_EQ(mode("model.json.journal"), 0600U);
  EXPECT_EQ(mode("model.json"), 0644U) << "public by nature";
  ASSERT_EQ(
      sotto({"data convert --dim 2", dir.file("rows.svm"), dir.file("c.svm")}, "umask 022;").code,
      0);
  EXPECT_EQ(mode("c.svm"), 0600U);
  EXPECT_EQ(sotto({"predict", dir.file("rows.svm"), dir.file("model.json"), "/dev/stdout"}).code,
            0);
}

// What can be mended while the run goes on is said while it goes on.
TEST(Outputs, ACheckpointThatCantBeWrittenIsToldAtOnce) {
  const TempDir dir;
  fs::create_directories(dir.file("folder"));
  const auto words =
      train(dir, {"--steps 2000000 --checkpoint", dir.file("folder/c"), "--every 50"});
  const pid_t child = started(program(words), dir.file("err"));
  ASSERT_TRUE(wait_for_file(dir.file("folder/c")));
  fs::rename(dir.file("folder"), dir.file("moved"));
  EXPECT_TRUE(wait_until([&] {
    return TempDir::read(dir.file("err")).find("no checkpoint could be written; the run goes on") !=
           std::string::npos;
  }));
  EXPECT_EQ(::waitpid(child, nullptr, WNOHANG), 0) << "and it does";
  fs::rename(dir.file("moved"), dir.file("folder"));
  ::kill(child, SIGTERM);
  EXPECT_EQ(ended(child), 130);
}

TEST(Names, CantSpeakToTheTerminalOrForgeALine) {
  const TempDir dir;
  const std::string name = dir.file("a\x1b[2Jb");
  const auto result = sotto({"verify", name});
  EXPECT_EQ(result.code, 6);
  EXPECT_THAT(result.err, Not(HasSubstr("\x1b")));
  ASSERT_EQ(sotto(train(dir, {"--steps 3"})).code, 0);
  auto model = nlohmann::json::parse(TempDir::read(dir.file("model.json")));
  model["class_names"] = {"-1", "1\nepsilon 0.001"};
  dir.write("forged.json", model.dump());
  const auto predicted =
      sotto({"predict", dir.file("rows.svm"), dir.file("forged.json"), dir.file("p")});
  EXPECT_EQ(predicted.code, 3) << predicted.out;
}

TEST(Names, OfAnyBytesAreFine) {
  const TempDir dir;
  auto words = train(dir, {"--steps 3 --record", dir.file("r\xff.json")});
  words.back() = dir.file("m\xfe.json");
  const auto result = sotto(words);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(fs::exists(words.back()));
  EXPECT_EQ(sotto({"verify", dir.file("r\xff.json")}).code, 0);
}

TEST(Files, AbsurdOnesAreRefused) {
  const TempDir dir;
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  const std::string deeper = R"({"sotto_run":1,"private":)" + deep + "}";
  for (const std::string& text : {deep, deeper, std::string(R"({"sotto_run":"x"})")}) {
    const std::string path = dir.write("x", text);
    for (const Words& words :
         {Words{"verify", path},
          {"account --journal", path},
          {"report --out", dir.file("p.html"), path},
          {"predict", dir.write("rows.svm", small_libsvm()), path, dir.file("p")}})
      EXPECT_EQ(sotto(words).code, 3) << words[0];
  }
  EXPECT_EQ(sotto({"verify", dir.file(std::string(300, 'a'))}).code, 6);
  fs::create_symlink(dir.file("loop"), dir.file("loop"));
  for (const char* option : {"--checkpoint", "--record", "--report"}) {
    const auto result = sotto(train(dir, {"--steps 3", option, dir.file("loop")}));
    EXPECT_EQ(result.code, 6) << option << result.err;
    EXPECT_FALSE(fs::exists(dir.file("model.json.journal"))) << "nothing was charged";
  }
}

TEST(Seeds, AreMarkedWhereverAnEpsilonStands) {
  const TempDir dir;
  const auto words = train(dir, {"--steps 3 --seed 1 --record", dir.file("r")});
  const auto result = sotto(words);
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("SEED"));
  for (const char* name : {"model.json", "r"}) {
    const auto file = nlohmann::json::parse(TempDir::read(dir.file(name)));
    EXPECT_EQ(file["privacy"]["private"], false) << name;
    EXPECT_EQ(file["privacy"]["private_if_seed_secret"], true) << name;
  }
  const auto exported = sotto({"export", dir.file("model.json"), dir.file("model.onnx")});
  ASSERT_EQ(exported.code, 0) << exported.err;
  EXPECT_THAT(exported.out + exported.err, HasSubstr("SEED"));
}

/// Every line that has an epsilon has the mark, too.
void expect_marked(const std::string& text, const std::string& what) {
  std::istringstream lines(text);
  int epsilons = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("epsilon ") == line.npos || line.find("warning") != line.npos) continue;
    if (line.find_first_of("0123456789", line.find("epsilon ")) == line.npos) continue;
    ++epsilons;
    EXPECT_THAT(line, HasSubstr("SEED")) << what;
  }
  EXPECT_GT(epsilons, 0) << what << text;
}

void expect_not_in_earnest(const std::string& text, const std::string& what) {
  const auto object = nlohmann::json::parse(text);
  const auto& run = object.contains("runs") ? object["runs"][0] : object;
  EXPECT_EQ(run["private"], false) << what;
  EXPECT_EQ(run["private_if_seed_secret"], true) << what;
}

TEST(Seeds, AreMarkedByEveryVerbThatPrintsAnEpsilon) {
  for (const Words& method : {Words{"--steps 3"}, {"--method dp-tr --epsilon 3"}}) {
    const TempDir dir;
    Words words = "train --seed 0 --delta 1e-5 --dim 2 --row-norm 1.5" + method;
    if (method.size() == 2) words += "--noise-multiplier 3";
    const Words dry = words + "--dry-run --public-n 200";
    words += {"--record", dir.file("r"), dir.write("d.svm", small_libsvm()), dir.file("m")};
    const auto trained = sotto(words);
    ASSERT_EQ(trained.code, 0) << trained.err;
    expect_marked(trained.out, "train, the result");
    expect_marked(trained.err, "train, the plan");
    const auto planned = sotto(dry);
    ASSERT_EQ(planned.code, 0) << planned.err;
    expect_marked(planned.out + planned.err, "train --dry-run");
    const auto as_json = [](const Words& command) { return sotto(command + "--json").out; };
    expect_not_in_earnest(as_json(dry), "train --dry-run --json");
    expect_not_in_earnest(as_json(words + "--again"), "train --json");
    const Words account = {"account --journal", dir.file("m.journal")};
    expect_marked(sotto(account).out, "account");
    expect_not_in_earnest(as_json(account), "account --json");
    const Words verify = {"verify", dir.file("r")};
    EXPECT_THAT(sotto(verify).out, HasSubstr("SEED"));
    expect_not_in_earnest(as_json(verify), "verify --json");
    expect_marked(sotto({"export", dir.file("m"), dir.file("m.onnx")}).out, "export");
    expect_marked(sotto({"show", dir.file("m")}).out, "show");
    ASSERT_EQ(sotto({"report", dir.file("r"), "--out", dir.file("p.html")}).code, 0);
    EXPECT_THAT(TempDir::read(dir.file("p.html")), HasSubstr("NOT PRIVATE: the randomness"));
  }
}

TEST(Seeds, AreMarkedWhereARunIsInterrupted) {
  const TempDir dir;
  std::string line = shell_line(train(dir, {"--steps 20000000 --seed 1"}));
  // Once the first charges are there; a step is short.
  line += " 2>" + quoted(dir.file("err")) + " & p=$!; k=0; while ! grep -qs charge " +
          quoted(dir.file("model.json.journal")) +
          " && [ $k -lt 6000 ]; do sleep 0.01; k=$((k+1)); done; kill -INT $p; wait $p";
  (void)std::system(line.c_str());
  const std::string told = TempDir::read(dir.file("err"));
  ASSERT_THAT(told, HasSubstr("interrupted after"));
  expect_marked(told.substr(told.find("interrupted after")), "interrupted");
}

TEST(Files, WhatIsWrongInARecordIsBadDataAndNobodysTyping) {
  const TempDir dir;
  ASSERT_EQ(sotto(train(dir, {"--steps 3 --record", dir.file("r")})).code, 0);
  const auto record = nlohmann::json::parse(TempDir::read(dir.file("r")));
  const std::vector<std::pair<const char*, std::string>> edits = {
      {"/plan", "gaussian("},
      {"/plan", "gaussian(-1)"},
      {"/plan", "poisson(0.1, compose(laplace(1), laplace(2)))"},
      {"/neighbours", "someone"},
      {"/privacy/events", "nothing"},
      {"/privacy/neighbours", "someone"},
      {"/drawn/0/sampling", "poisson(7)"}};
  for (const auto& [path, text] : edits) {
    auto edited = record;
    edited[nlohmann::json::json_pointer(path)] = text;
    const std::string file = dir.write("edited", edited.dump());
    for (const Words& words :
         {Words{"verify", file}, {"report", file, "--out", dir.file("p.html")}})
      EXPECT_THAT(sotto(words).code, ::testing::AnyOf(3, 5)) << words[0] << path << text;
  }
}

}  // namespace
}  // namespace sotto::testing
