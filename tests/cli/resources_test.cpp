// Absurd numbers and sizes, and a machine without memory, threads or patience.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/support/child.hpp"
#include "tests/support/command.hpp"
#include "tests/support/gzip.hpp"

namespace sotto::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::HasSubstr;

class Resources : public ::testing::Test {
 protected:
  Words train(const Words& more) const {
    return "train --delta 1e-5 --dim 2 --quiet" + more + Words{rows_, dir_.file("model.json")};
  }
  /// Refused with this code, and nothing was charged.
  void expect_refused(const Words& words, int code) const {
    const auto result = sotto(words);
    EXPECT_EQ(result.code, code) << words[6] << words[7] << result.err;
    EXPECT_THAT(result.err, HasSubstr("sotto: "));
    EXPECT_THAT(TempDir::read(dir_.file("model.json.journal")),
                ::testing::Not(HasSubstr("\"charge\"")));
    EXPECT_FALSE(fs::exists(dir_.file("model.json")));
  }

  TempDir dir_;
  std::string rows_ = dir_.write("rows.svm", small_libsvm());
};

TEST_F(Resources, DenormalTolerancesAreNoInternalError) {
  for (const char* option : {"--curvature-tolerance", "--gradient-tolerance", "--clip-radius"})
    for (const char* method : {"opt", "dp-tr"})
      expect_refused(
          train({"--method", method, option, "5e-324 --row-norm 1 --epsilon 1 --steps 2"}), 2);
}

TEST_F(Resources, NumbersAreRefusedBeforeAnythingIsCharged) {
  for (const char* norm : {"1e308", "1e-300", "-1", "inf", "nan"})
    expect_refused(train({"--row-norm", norm, "--epsilon 1"}), 2);
  for (const Words& more : std::vector<Words>{{"--clip-radius 1e-300"},
                                              {"--clip 1e300"},
                                              {"--step-size 1e300"},
                                              {"--threads 100000"},
                                              {"--threads -1"}})
    expect_refused(train(more + "--method dp-sgd --row-norm 1.5 --epsilon 1"), 2);
  for (const char* noise : {"1e-300", "1e-61", "1e300", "inf", "nan", "0", "-1"})
    expect_refused(train({"--noise-multiplier", noise, "--method dp-sgd --row-norm 1.5"}), 2);
  expect_refused(train({"--noise-multiplier 1e20 --method dp-sgd --row-norm 1.5"}), 4);
  const std::string vertices = dir_.write("v.txt", "1e308 0\n0 1\n");
  expect_refused(
      train(
          {"--constraint", "polytope:" + vertices, "--method dp-fw-l1 --row-norm 1.5 --epsilon 1"}),
      3);
}

// As many weights as memory can't hold: said before the journal has a charge.
TEST_F(Resources, MoreFeaturesThanMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers have an address space of their own";
#endif
  const std::string rows = dir_.write("wide.svm", "+1 2147483645:1\n-1 1:1\n");
  for (const char* method : {"dp-gd", "dp-sgd", "dp-fw-l1"}) {
    Words words = {"train --method",
                   method,
                   "--epsilon 1 --delta 1e-5 --row-norm 1 --dim 2147483645",
                   rows,
                   dir_.file("model.json")};
    if (std::string(method) == "dp-fw-l1") words += "--constraint l1:1";
    const auto result = sotto(words, "ulimit -v 8000000;");
    EXPECT_THAT(result.code, AnyOf(2, 6)) << result.err;
    EXPECT_FALSE(fs::exists(dir_.file("model.json.journal"))) << method;
  }
}

// More than a choice of coordinates can carry, though memory could.
TEST_F(Resources, MoreCoordinatesThanAChoiceCarries) {
  const auto words = Words{
      "train --constraint l1:1 --method dp-fw-l1 --selection exponential --steps 2 --epsilon 1 "
      "--delta 1e-5 --row-norm 1 --dim 33554433 --threads 1",
      rows_,
      dir_.file("model.json")};
  expect_refused(words, 2);
}

TEST_F(Resources, AccountantsAnswerOrRefuseInTime) {
  for (const char* event : {"poisson(0.5, gaussian(1e-300))",
                            "poisson(0.01, gaussian(1e-4))",
                            "compose(gaussian(2), laplace(1e9))",
                            "repeat(1000, poisson(0.01, gaussian(1e308)))",
                            "repeat(9000000000000000000, poisson(0.01, gaussian(1)))",
                            "repeat(100, poisson(0.01, gaussian(1)))",
                            "fixed_size(10, 1000, gaussian(1e-200))",
                            "gaussian(1)"})
    for (const Words& at : std::vector<Words>{{"--epsilon 0"},
                                              {"--epsilon 1e300"},
                                              {"--delta 1e-5"},
                                              {"--delta 1e-300"},
                                              {"--delta 0"}}) {
      const auto result =
          sotto("account --accountant all" + at + Words{"--event", event}, "ulimit -t 3;");
      EXPECT_THAT(result.code, AnyOf(0, 2, 3, 4)) << event << at[0] << at[1] << result.err;
    }
}

// 3 MB that become 3 GB, in less memory than that.
TEST_F(Resources, AGzipBombIsRefused) {
  const std::string member = gzip(std::string(std::size_t{16} << 20, '\n'));
  std::string bomb;
  for (int k = 0; k < 192; ++k) bomb += member;
  const std::string path = dir_.write("bomb.svm.gz", bomb + gzip("+1 1:1\n"));
  ASSERT_LT(fs::file_size(path), 4'000'000U);
  const auto result = sotto({"data info --dim 2", path});
  EXPECT_EQ(result.code, 3) << result.err;
  EXPECT_THAT(result.err, HasSubstr("--max-unpacked"));
}

TEST_F(Resources, LimitsCanBeRaisedAndLowered) {
  const std::string packed = dir_.write("rows.svm.gz", gzip(small_libsvm()));
  const auto info = [&](const Words& more, const std::string& path) {
    return sotto("data info --dim 2" + more + path).code;
  };
  EXPECT_EQ(info({}, packed), 0);
  EXPECT_EQ(info({"--max-unpacked 1KB"}, packed), 3);
  EXPECT_EQ(info({"--max-unpacked 1MB"}, packed), 0);
  EXPECT_EQ(info({"--max-file 1KB"}, rows_), 3);
  EXPECT_EQ(info({"--max-file 200GB --max-line 1GB --max-field 1GB"}, rows_), 0);
  EXPECT_EQ(info({"--max-line 10"}, rows_), 3);
  EXPECT_EQ(info({"--max-line none"}, rows_), 2);
  EXPECT_EQ(info({"--max-line 0"}, rows_), 2);
  EXPECT_EQ(info({"--max-file -1"}, rows_), 2);
  ASSERT_EQ(sotto(train({"--epsilon 1 --row-norm 1.5 --max-line 1MB"})).code, 0);
  EXPECT_EQ(sotto({"predict --max-line 10", rows_, dir_.file("model.json"), dir_.file("p")}).code,
            3);
}

/// Whatever is named where a file is read: a message, in time and in little memory.
TEST_F(Resources, StrangeInputs) {
  fs::create_symlink(dir_.file("loop"), dir_.file("loop"));
  const std::string model = dir_.file("model.json");
  ASSERT_EQ(sotto(train({"--epsilon 1 --row-norm 1.5"})).code, 0);
  const Words budget = {"--epsilon 1 --delta 1e-5 --dim 2"};
  for (const std::string& name : {std::string("/dev/zero"),
                                  dir_.file(std::string(300, 'a')),
                                  dir_.file(std::string(5000, 'a')),
                                  dir_.file("loop"),
                                  rows_ + "/below",
                                  dir_.file("")}) {
    const std::vector<Words> commands = {
        {"predict", name, model, dir_.file("p")},
        {"predict", rows_, name, dir_.file("p")},
        {"verify", name},
        {"account --journal", name},
        {"report --out", dir_.file("r.html"), name},
        {"export", name, dir_.file("m.onnx")},
        {"evaluate", name, model},
        {"evaluate", rows_, name},
        {"recalibrate", name, model, dir_.file("new.json")},
        {"show", name},
        {"show", model, "--record", name},
        {"data info --dim 2", name},
        {"data info --schema", name, rows_},
        {"train --config", name, rows_, dir_.file("m2.json")},
        {"audit --method dp-gd --epsilon 1 --delta 1e-5 --resume", name}};
    for (const auto& words : commands) {
      const auto result = sotto(words, "ulimit -t 20;");
      EXPECT_THAT(result.code, AnyOf(2, 3, 6)) << words[0] << " " << name << result.err;
      EXPECT_THAT(result.err, HasSubstr("sotto: ")) << words[0];
    }
  }
}

/// toml++ would destroy a table for each part of a key recursively: the stack ends before they do.
TEST_F(Resources, DeepTomlKeysAreRefused) {
  const std::string model = dir_.file("model.json");
  ASSERT_EQ(sotto(train({"--epsilon 1 --row-norm 1.5"})).code, 0);
  std::string key = "a";
  for (int k = 0; k < 40'000; ++k) key += ".a";
  for (const std::string& text : {key + " = 1\n",
                                  "[" + key + "]\n",
                                  "[[" + key + "]]\n",
                                  "b = {" + key + " = 1}\n",
                                  "b = [{" + key + " = 1}]\n"}) {
    const std::string toml = dir_.write("deep.toml", text);
    auto object = nlohmann::json::parse(TempDir::read(model));
    object["schema"] = text;
    const std::string forged = dir_.write("forged.json", object.dump());
    const Words budget = {"--epsilon 1 --delta 1e-5"};
    const Words paths = {rows_, dir_.file("new.json")};
    const std::vector<std::pair<Words, int>> doors = {
        {"train --dim 2 --row-norm 1.5" + budget + Words{"--config", toml} + paths, 2},
        {"train" + budget + Words{"--schema", toml} + paths, 3},
        {"train" + budget + Words{"--model", toml} + paths, 3},
        {{"show", forged}, 3}};
    for (const auto& [words, code] : doors) {
      const auto result = sotto(words);
      EXPECT_EQ(result.code, code) << words[0] << text.substr(0, 9) << result.err;
      EXPECT_THAT(result.err, HasSubstr(":1:")) << words[0] << text.substr(0, 9);
      EXPECT_THAT(result.err, HasSubstr("more than 8 parts")) << words[0] << text.substr(0, 9);
    }
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

// Address space from just enough to load the program on: a model, or a message.
TEST_F(Resources, LittleMemory) {
  std::string rows;
  for (int k = 0; k < 2000; ++k) rows += small_libsvm();
  dir_.write("rows.svm", rows);
  int refused = 0;
  for (int kilobytes = 36'000; kilobytes <= 120'000; kilobytes += 6'000) {
    const auto result = sotto(train({"--method dp-sgd --row-norm 1.5 --epsilon 1 --threads 2"}),
                              "ulimit -v " + std::to_string(kilobytes) + ";");
    constexpr int kNotLoaded = 127;  // the libraries alone need more
    EXPECT_THAT(result.code, AnyOf(0, 6, kNotLoaded)) << kilobytes << result.err;
    if (result.code == 6) {
      ++refused;
      EXPECT_THAT(result.err, AnyOf(HasSubstr("memory"), HasSubstr("the system refuses")));
    }
    const auto told = sotto({"account --journal", dir_.file("model.json.journal")});
    EXPECT_THAT(told.code, AnyOf(0, 6)) << told.err;
    fs::remove(dir_.file("model.json"));
    fs::remove(dir_.file("model.json.journal"));
  }
  EXPECT_GT(refused, 0);
}

#endif

/// The program as a user who may start no further thread; its exit code.
int without_threads(const Words& arguments) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit none{1, 1};
    const bool root = ::geteuid() == 0;  // no limit holds for root
    if (root && (::setgroups(0, nullptr) != 0 || ::setgid(54321) != 0)) ::_exit(97);
    if (::setrlimit(RLIMIT_NPROC, &none) != 0) ::_exit(97);
    if (root && ::setuid(54321) != 0) ::_exit(97);
    std::vector<char*> words = {const_cast<char*>(SOTTO_BINARY)};
    for (const auto& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    const int null = ::open("/dev/null", O_WRONLY);
    ::dup2(null, STDOUT_FILENO);
    ::dup2(null, STDERR_FILENO);
    ::execv(words[0], words.data());
    ::_exit(98);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

TEST_F(Resources, NoThreads) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers start threads of their own";
#endif
  fs::permissions(dir_.file(""), fs::perms(0777));
  std::string rows;
  for (int k = 0; k < 100; ++k) rows += small_libsvm();
  dir_.write("rows.svm", rows);
  const auto words = train({"--method dp-sgd --row-norm 1.5 --epsilon 1 --threads 4"});
  const int code = without_threads(words);
  if (code == 97 || code == 98) GTEST_SKIP() << "the program can't be started as another user";
  EXPECT_EQ(code, 6);
  EXPECT_THAT(TempDir::read(dir_.file("model.json.journal")),
              ::testing::Not(HasSubstr("\"charge\"")));
}

// The first signal asks, the second ends: no file with rows is left half-written.
TEST_F(Resources, TwoSignalsLeaveNoTemporaryFile) {
  const auto temporary = [&] {
    for (const auto& entry : fs::directory_iterator(dir_.file("")))
      if (entry.path().filename().string().starts_with(".sotto-")) return true;
    return false;
  };
  const pid_t child = started({std::string(SOTTO_BINARY),
                               "data make --rows 300000 --dim 100 linear",
                               dir_.file("made.svm")});
  ASSERT_TRUE(wait_until(temporary)) << "it was writing";
  ::kill(child, SIGTERM);
  using namespace std::chrono_literals;
  std::this_thread::sleep_for(1100ms);  // within a second they are one request
  ::kill(child, SIGTERM);
  ended(child);
  EXPECT_FALSE(temporary());
  EXPECT_FALSE(fs::exists(dir_.file("made.svm"))) << "it was complete before the second signal";
}

}  // namespace
}  // namespace sotto::testing
