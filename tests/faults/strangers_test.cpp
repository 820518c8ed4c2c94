// What other users of a shared folder left there, and what the system may refuse: streams, random
// numbers, signals that somebody had us ignore.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <set>

#include "apps/sotto/command_line.hpp"
#include "apps/sotto/signals.hpp"
#include "sotto/core/file.hpp"
#include "sotto/core/file_system.hpp"
#include "sotto/core/stop.hpp"
#include "sotto/training/checkpoint.hpp"
#include "tests/support/command.hpp"
#include "tests/support/temp_dir.hpp"

namespace sotto::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// A disk on which files and links of these names are another user's.
class OthersFiles final : public FileSystem {
 public:
  explicit OthersFiles(std::set<std::string> names) : names_(std::move(names)) {}
  int open(const char* path, int flags, mode_t mode) override {
    const int file = FileSystem::open(path, flags, mode);
    if (names_.contains(fs::path(path).filename())) theirs_.insert(file);
    return file;
  }
  int stat(int file, struct stat& facts) override {
    return changed(FileSystem::stat(file, facts), theirs_.contains(file), facts);
  }
  int stat(const char* path, struct stat& facts) override {
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    return changed(FileSystem::stat(path, facts), names_.contains(real.filename()), facts);
  }
  int stat_link(const char* path, struct stat& facts) override {
    return changed(
        FileSystem::stat_link(path, facts), names_.contains(fs::path(path).filename()), facts);
  }

 private:
  static int changed(int result, bool theirs, struct stat& facts) {
    if (theirs) facts.st_uid = ::geteuid() + 2001;
    return result;
  }
  std::set<std::string> names_;
  std::set<int> theirs_;
};

TEST(SharedFolder, AFileOfAnotherUserIsNotReplaced) {
  const TempDir dir;
  dir.write("theirs", "old");
  OthersFiles disk({"theirs"});
  const FileSystemInUse in_use(disk);
  for (const FileAccess access : {FileAccess::kPublic, FileAccess::kOwner}) {
    const auto written = write_file_atomically(dir.file("theirs"), "rows", access);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().kind, ErrorKind::kIo);
    EXPECT_THAT(written.error().message, HasSubstr("another user"));
    EXPECT_FALSE(check_writable(dir.file("theirs"))) << "before anything is paid for";
  }
  EXPECT_EQ(TempDir::read(dir.file("theirs")), "old");
}

// Nor where the link is a folder on the way, or what a link of our own leads to.
TEST(SharedFolder, NoLinkOfAnotherUserIsOnTheWay) {
  const TempDir dir;
  fs::create_directories(dir.file("ours"));
  dir.write("secret", "old");
  fs::create_directory_symlink(dir.file("ours"), dir.file("sub"));
  fs::create_symlink(dir.file("secret"), dir.file("trap"));
  fs::create_symlink("trap", dir.file("own"));
  {
    OthersFiles disk({"sub", "trap"});
    const FileSystemInUse in_use(disk);
    for (const char* name :
         {"sub/out", "own", "ours/../sub/out", "ours/./../sub/out", "./ours/.././sub/out"}) {
      const auto written = write_file_atomically(dir.file(name), "new");
      ASSERT_FALSE(written) << name;
      EXPECT_THAT(written.error().message, HasSubstr("another user")) << name;
      EXPECT_FALSE(AppendLog::open(dir.file(name))) << name;
    }
    EXPECT_TRUE(write_file_atomically(dir.file("ours/out"), "new"));
  }
  EXPECT_EQ(TempDir::read(dir.file("secret")), "old");
  EXPECT_TRUE(write_file_atomically(dir.file("own"), "new")) << "links of our own are followed";
  EXPECT_EQ(TempDir::read(dir.file("secret")), "new");
}

// Who waits at its other end would get the predictions.
TEST(SharedFolder, APipeOfAnotherUserIsNotWrittenTo) {
  const TempDir dir;
  for (const char* name : {"theirs", "ours"}) ASSERT_EQ(::mkfifo(dir.file(name).c_str(), 0622), 0);
  fs::create_symlink(dir.file("ours"), dir.file("trap"));
  OthersFiles disk({"theirs", "trap"});
  const FileSystemInUse in_use(disk);
  for (const char* name : {"theirs", "trap"}) {
    const auto written =
        write_file_atomically(dir.file(name), "rows", FileAccess::kOwner, StreamTargets::kAllowed);
    ASSERT_FALSE(written) << name;
    EXPECT_EQ(written.error().kind, ErrorKind::kIo);
    EXPECT_THAT(written.error().message, HasSubstr("another user")) << name;
    EXPECT_FALSE(check_writable(dir.file(name), StreamTargets::kAllowed)) << name;
  }
  // One of our own has a reader who was meant.
  const int reader = ::open(dir.file("ours").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  EXPECT_TRUE(
      write_file_atomically(dir.file("ours"), "rows", FileAccess::kOwner, StreamTargets::kAllowed));
  char read[8] = {};
  EXPECT_EQ(::read(reader, read, sizeof read), 4);
  ::close(reader);
}

TEST(SharedFolder, ALinkOfAnotherUserIsNotFollowed) {
  const TempDir dir;
  dir.write("ours", "old");
  fs::create_symlink(dir.file("ours"), dir.file("trap"));
  fs::create_symlink(dir.file("ours"), dir.file("link"));
  OthersFiles disk({"trap"});
  const FileSystemInUse in_use(disk);
  EXPECT_FALSE(write_file_atomically(dir.file("trap"), "new"));
  EXPECT_EQ(TempDir::read(dir.file("ours")), "old");
  EXPECT_TRUE(write_file_atomically(dir.file("link"), "new"));
  EXPECT_EQ(TempDir::read(dir.file("ours")), "new");
}

TEST(SharedFolder, ACheckpointIsAFileOfOurs) {
  const TempDir dir;
  dir.write("ckpt", "sotto checkpoint");
  fs::create_symlink(dir.file("ckpt"), dir.file("link"));
  ASSERT_EQ(::mkfifo(dir.file("pipe").c_str(), 0600), 0);
  EXPECT_THAT(read_checkpoint(dir.file("link")).error().message, HasSubstr("link"));
  EXPECT_THAT(read_checkpoint(dir.file("pipe")).error().message, HasSubstr("pipe"));
  EXPECT_EQ(read_checkpoint(dir.file("ckpt")).error().kind, ErrorKind::kBadData);
  OthersFiles disk({"ckpt"});
  const FileSystemInUse in_use(disk);
  EXPECT_THAT(read_checkpoint(dir.file("ckpt")).error().message, HasSubstr("another user"));
}

/// Counts how often folders are synced.
class FolderSyncs final : public FileSystem {
 public:
  int open(const char* path, int flags, mode_t mode) override {
    const int file = FileSystem::open(path, flags, mode);
    if ((flags & O_DIRECTORY) != 0) folders_.insert(file);
    return file;
  }
  int sync(int file) override {
    if (folders_.contains(file)) ++count;
    return FileSystem::sync(file);
  }
  int close(int file) override {
    folders_.erase(file);
    return FileSystem::close(file);
  }
  int count = 0;

 private:
  std::set<int> folders_;
};

// Whoever made the file may have been killed before its name was on the disk.
TEST(AppendLog, ItsNameIsOnTheDiskBeforeItsFirstLine) {
  const TempDir dir;
  for (int round = 0; round < 2; ++round) {
    FolderSyncs disk;
    const FileSystemInUse in_use(disk);
    ASSERT_TRUE(AppendLog::open(dir.file("log")));
    EXPECT_EQ(disk.count, 1) << (round == 0 ? "a new one" : "one that is there");
  }
}

/// The exit code of a child process.
int in_a_child(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

Words training(const TempDir& dir) {
  return {
      "train --method dp-sgd --delta 1e-5 --dim 2 --row-norm 1.5 --epsilon 1 --steps 3 --threads 1",
      dir.write("rows.svm", small_libsvm()),
      dir.file("m.json")};
}

TEST(ClosedStreams, NoMessageEndsUpInAJournal) {
  for (const std::vector<int>& closed : {std::vector<int>{2}, {1}, {0}, {1, 2}, {0, 1, 2}}) {
    for (const bool held : {true, false}) {  // false: a program that uses the library
      const TempDir dir;
      const auto words = training(dir);
      const int code = in_a_child([&] {
        for (const int stream : closed) ::close(stream);
        if (held) hold_standard_streams();
        return app::run_command_line(words);
      });
      EXPECT_THAT(code, ::testing::AnyOf(0, 6));
      EXPECT_TRUE(fs::exists(dir.file("m.json")));
      const auto told = sotto({"account --journal", dir.file("m.json.journal")});
      EXPECT_EQ(told.code, 0) << told.err;
    }
  }
}

/// From now on the system gives this process no random numbers.
bool forbid_getrandom() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrandom, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{4, program};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST(Randomness, ThatTheSystemRefusesIsAnErrorBeforeAnyCharge) {
  const TempDir dir;
  const auto words = training(dir);
  const int code =
      in_a_child([&] { return forbid_getrandom() ? app::run_command_line(words) : 99; });
  if (code == 99) GTEST_SKIP() << "the system has no seccomp";
  EXPECT_EQ(code, 6);
  EXPECT_FALSE(fs::exists(dir.file("m.json")));
  EXPECT_FALSE(fs::exists(dir.file("m.json.journal")));
}

TEST(Signals, TheEndOfATerminalStaysIgnoredUnderNohup) {
  const auto stops = [](bool ignored) {
    return in_a_child([&] {
      if (ignored) ::signal(SIGHUP, SIG_IGN);
      app::install_signals();
      ::raise(SIGHUP);
      return stop_requested() ? 1 : 0;
    });
  };
  EXPECT_EQ(stops(true), 0) << "nohup";
  EXPECT_EQ(stops(false), 1);
}

// `timeout` sends two within microseconds. Somebody who is impatient waits a second.
TEST(Signals, ASecondOneEndsTheProgramOnlyAfterASecond) {
  for (const bool later : {false, true}) {
    const int code = in_a_child([&] {
      app::install_signals();
      for (const int number : {SIGTERM, SIGTERM, SIGINT}) ::raise(number);
      if (later) ::usleep(1'100'000);
      ::raise(SIGTERM);
      return 42;
    });
    EXPECT_EQ(code == 42, !later) << code;
  }
}

}  // namespace
}  // namespace sotto::testing
