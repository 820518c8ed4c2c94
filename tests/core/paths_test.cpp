#include "sotto/core/paths.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/temp_dir.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

void refuse_twice(const std::string& model, const std::string& record) {
  const auto twice = check_paths_differ({}, {{"the model", model}, {"--record", record}});
  ASSERT_FALSE(twice) << model << " " << record;
  EXPECT_EQ(twice.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(twice.error().message, HasSubstr("the model and --record would be the same file"));
}

TEST(Paths, WhatIsWrittenIsNeitherReadNorWrittenTwice) {
  const testing::TempDir folder;
  const std::string data = folder.write("data.csv", "1\n");
  fs::create_symlink(data, folder.file("link.csv"));
  fs::create_hard_link(data, folder.file("hard.csv"));
  const std::string model = folder.file("model.json");
  EXPECT_TRUE(check_paths_differ({{"the data", data}}, {{"the model", model}, {"--plot", ""}}));
  for (const std::string& same :
       {data, folder.file("./data.csv"), folder.file("link.csv"), folder.file("hard.csv")}) {
    const auto checked = check_paths_differ({{"the data", data}}, {{"the model", same}});
    ASSERT_FALSE(checked) << same;
    EXPECT_EQ(checked.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(checked.error().message, HasSubstr("the model would be written over the data"));
  }
  // Neither exists yet.
  refuse_twice(model, folder.file("x/../model.json"));
}

TEST(Paths, ACommaIsAPartOfAName) {
  const testing::TempDir folder;
  fs::create_directory(folder.file("my,data"));
  fs::create_symlink("my,data", folder.file("link"));
  const std::string data = folder.write("my,data/t.svm", "1\n");
  const std::string model = folder.file("m.json");
  for (const std::string& same : {folder.file("link/t.svm"), folder.file("my,data/../link/t.svm")})
    EXPECT_FALSE(check_paths_differ({{"the data", data}}, {{"--record", same}})) << same;
  refuse_twice(model, folder.file("my,data/../m.json"));
  refuse_twice(folder.file("link/m.json"), folder.file("my,data/m.json"));
  const std::string run = folder.file("run,1.json");
  EXPECT_TRUE(check_paths_differ({{"the data", folder.file("run")}},
                                 {{"the model", run}, {"the journal", run + ".journal"}}));
}

TEST(Paths, AFileThatIsNotThereYetIsKnownByItsFolder) {
  const testing::TempDir folder;
  fs::create_directory(folder.file("a"));
  fs::create_directory(folder.file("b"));
  fs::create_directory_symlink(folder.file("a"), folder.file("link"));
  refuse_twice(folder.file("a/x"), folder.file("link/x"));
  EXPECT_TRUE(check_paths_differ({}, {{"1", folder.file("a/x")}, {"2", folder.file("b/x")}}));
  EXPECT_TRUE(check_paths_differ({}, {{"1", folder.file("a/x")}, {"2", folder.file("a/y")}}));
  // Links that lead to it, one by way of the other.
  fs::create_symlink("a/x", folder.file("to"));
  fs::create_symlink(folder.file("to"), folder.file("b/on"));
  refuse_twice(folder.file("a/x"), folder.file("b/on"));
}

TEST(Paths, TerminalsAndPipesKeepNothing) {
  const testing::TempDir folder;
  const std::string pipe = folder.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {std::string("/dev/null"), pipe})
    EXPECT_TRUE(check_paths_differ({{"the data", path}}, {{"1", path}, {"2", path}})) << path;
}

TEST(Paths, WhatTheSystemDoesNotTellIsAnError) {
  const testing::TempDir folder;
  fs::create_symlink(folder.file("loop"), folder.file("loop"));
  const auto checked = check_paths_differ({}, {{"the model", folder.file("loop")}});
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().kind, ErrorKind::kIo);
}

/// Two names of one folder that no link tells of. In a process of its own, whose mounts nobody else
/// sees; needs the right to mount.
TEST(Paths, AFolderUnderTwoMountsIsOne) {
  const testing::TempDir folder;
  fs::create_directory(folder.file("a"));
  fs::create_directory(folder.file("b"));
  constexpr int kNoRight = 77;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount(folder.file("a").c_str(), folder.file("b").c_str(), nullptr, MS_BIND, nullptr) != 0)
      ::_exit(kNoRight);
    const auto twice =
        check_paths_differ({}, {{"1", folder.file("a/x.json")}, {"2", folder.file("b/x.json")}});
    const auto apart =
        check_paths_differ({}, {{"1", folder.file("a/x.json")}, {"2", folder.file("b/y.json")}});
    ::_exit(!twice && apart ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNoRight) GTEST_SKIP() << "mounting is not allowed here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace sotto
