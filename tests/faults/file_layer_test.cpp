// Files one by one: links, pipes, devices and other people's files; writes that are torn; names
// that go away.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "sotto/core/file.hpp"
#include "sotto/core/stop.hpp"
#include "sotto/random/stream.hpp"
#include "tests/faults/faulty_disk.hpp"
#include "tests/support/temp_dir.hpp"

namespace sotto::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

mode_t mode_of(const std::string& path) {
  struct stat facts {};
  EXPECT_EQ(::stat(path.c_str(), &facts), 0);
  return facts.st_mode & 0777;
}

std::size_t files_in(const TempDir& dir) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(dir.file("")), fs::directory_iterator()));
}

TEST(AtomicFile, LeavesTheOldContentOrTheNew) {
  for (std::int64_t at = 1;; ++at) {
    const TempDir dir;
    dir.write("a", "old");
    FaultyDisk disk({Fault::Kind::kError, at, ENOSPC, true});
    const FileSystemInUse in_use(disk);
    const auto written = write_file_atomically(dir.file("a"), "the new content");
    const std::string now = TempDir::read(dir.file("a"));
    EXPECT_EQ(now == "old" || now == "the new content", true) << disk.hit() << ": " << now;
    if (written) {
      EXPECT_EQ(now, "the new content");
      EXPECT_GT(at, 6) << "it was tried";
      break;
    }
  }
}

// Also that of a close, which may be the first to know that the disk is full.
TEST(AtomicFile, NoFailedCallIsPassedOver) {
  for (std::int64_t at = 1;; ++at) {
    const TempDir dir;
    dir.write("a", "old");
    FaultyDisk disk({Fault::Kind::kError, at, EIO, false});
    const FileSystemInUse in_use(disk);
    const auto written = write_file_atomically(dir.file("a"), "the new content");
    EXPECT_EQ(written.has_value(), disk.hit().empty()) << disk.hit();
    if (disk.hit().empty()) break;
    EXPECT_EQ(written.error().kind, ErrorKind::kIo);
  }
}

TEST(AtomicFile, KeepsModesAndLinks) {
  const TempDir dir;
  ::umask(022);
  ASSERT_TRUE(write_file_atomically(dir.file("public"), "x"));
  EXPECT_EQ(mode_of(dir.file("public")), 0644U);
  ASSERT_TRUE(write_file_atomically(dir.file("mine"), "x", FileAccess::kOwner));
  EXPECT_EQ(mode_of(dir.file("mine")), 0600U);
  fs::permissions(dir.file("public"), fs::perms(0640));
  ASSERT_TRUE(write_file_atomically(dir.file("public"), "y"));
  EXPECT_EQ(mode_of(dir.file("public")), 0640U);
  fs::create_symlink(dir.file("public"), dir.file("link"));
  ASSERT_TRUE(write_file_atomically(dir.file("link"), "z"));
  EXPECT_TRUE(fs::is_symlink(dir.file("link")));
  EXPECT_EQ(TempDir::read(dir.file("public")), "z");
  EXPECT_EQ(files_in(dir), 3u) << "no temporary file is left";
}

TEST(AtomicFile, StreamsAreWrittenThroughOnlyWhereTheyMakeSense) {
  const TempDir dir;
  EXPECT_FALSE(write_file_atomically("/dev/null", "x"));
  EXPECT_TRUE(
      write_file_atomically("/dev/null", "x", FileAccess::kPublic, StreamTargets::kAllowed));
  EXPECT_FALSE(check_writable("/dev/null"));
  EXPECT_TRUE(check_writable("/dev/null", StreamTargets::kAllowed));
  EXPECT_FALSE(write_file_atomically(dir.file(""), "x")) << "a folder";
  EXPECT_FALSE(write_file_atomically(dir.file("none/a"), "x"));
  EXPECT_FALSE(write_file_atomically(dir.file(std::string(300, 'a')), "x"));
  fs::create_symlink(dir.file("nowhere"), dir.file("dangling"));
  EXPECT_FALSE(write_file_atomically(dir.file("dangling"), "x"));
  fs::create_symlink(dir.file("loop"), dir.file("loop"));
  EXPECT_FALSE(write_file_atomically(dir.file("loop"), "x"));
}

// Somebody who can write to the folder puts links where a temporary file may come: its name can't
// be guessed, and a link would not be followed.
TEST(AtomicFile, TemporaryNamesAreRandom) {
  class Names final : public FileSystem {
   public:
    int open(const char* path, int flags, mode_t mode) override {
      if ((flags & O_CREAT) != 0) {
        EXPECT_EQ(flags & (O_EXCL | O_NOFOLLOW), O_EXCL | O_NOFOLLOW);
        names.emplace_back(path);
      }
      return FileSystem::open(path, flags, mode);
    }
    std::vector<std::string> names;
  } names;
  const TempDir dir;
  const FileSystemInUse in_use(names);
  for (int k = 0; k < 3; ++k) ASSERT_TRUE(write_file_atomically(dir.file("a"), "x"));
  ASSERT_EQ(names.names.size(), 3u);
  EXPECT_NE(names.names[0], names.names[1]);
  EXPECT_NE(names.names[1], names.names[2]);
}

// A second signal ends the program at once: what a handler can do is unlink.
TEST(AtomicFile, OpenTemporaryFilesAreKnownToAHandler) {
  const TempDir dir;
  dir.write("a", "old");
  std::vector<AtomicFile> files;
  for (int k = 0; k < 16; ++k) {
    auto file = AtomicFile::create(dir.file("a"), FileAccess::kOwner);
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write("rows"));
    files.push_back(*std::move(file));
  }
  EXPECT_EQ(files_in(dir), 17U);
  remove_temporary_files();
  EXPECT_EQ(files_in(dir), 1U);
  EXPECT_EQ(TempDir::read(dir.file("a")), "old");
}

TEST(AppendLog, IsARegularFileOfOurs) {
  const TempDir dir;
  EXPECT_FALSE(AppendLog::open("/dev/null"));
  fs::create_symlink("/dev/null", dir.file("link"));
  const auto link = AppendLog::open(dir.file("link"));
  ASSERT_FALSE(link);
  EXPECT_THAT(link.error().message, HasSubstr("link"));
  ASSERT_EQ(::mkfifo(dir.file("pipe").c_str(), 0600), 0);
  EXPECT_FALSE(AppendLog::open(dir.file("pipe"))) << "and it does not wait";
  EXPECT_FALSE(AppendLog::open(dir.file(""))) << "a folder";
  const auto log = AppendLog::open(dir.file("log"));
  ASSERT_TRUE(log);
  EXPECT_EQ(mode_of(dir.file("log")), 0600U);
  const auto second = AppendLog::open(dir.file("log"));
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("another run"));
  if (::geteuid() == 0) {
    dir.write("theirs", "");
    ASSERT_EQ(::chown(dir.file("theirs").c_str(), 12345, 12345), 0);
    const auto theirs = AppendLog::open(dir.file("theirs"));
    ASSERT_FALSE(theirs);
    EXPECT_THAT(theirs.error().message, HasSubstr("another user"));
  }
}

/// Another program makes the file, and locks it, just before this one does.
class Overtaken final : public FileSystem {
 public:
  int open(const char* path, int flags, mode_t mode) override {
    if ((flags & O_EXCL) != 0) {
      theirs = ::open(path, O_RDWR | O_CREAT, 0600);
      EXPECT_EQ(FileSystem::lock(theirs), 0);
    }
    return FileSystem::open(path, flags, mode);
  }
  int theirs = -1;
};

TEST(AppendLog, TellsWhoWasOvertakenThatAnotherRunIsWriting) {
  const TempDir dir;
  Overtaken disk;
  const FileSystemInUse in_use(disk);
  const auto log = AppendLog::open(dir.file("log"));
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().kind, ErrorKind::kIo);
  EXPECT_THAT(log.error().message, HasSubstr("another run is writing to it"));
  ::close(disk.theirs);
  EXPECT_TRUE(AppendLog::open(dir.file("log")));
}

TEST(AppendLog, StopsWhereItsNameDoesNotLeadToIt) {
  for (const char* how : {"removed", "replaced", "longer", "shorter"}) {
    const TempDir dir;
    auto log = AppendLog::open(dir.file("log"));
    ASSERT_TRUE(log);
    ASSERT_TRUE(log->append("one\n"));
    const std::string kind = how;
    if (kind == "removed") fs::remove(dir.file("log"));
    if (kind == "replaced") {
      fs::remove(dir.file("log"));
      ASSERT_TRUE(AppendLog::open(dir.file("log"))) << "a second run starts";
    }
    if (kind == "longer") std::ofstream(dir.file("log"), std::ios::app) << "x";
    if (kind == "shorter") fs::resize_file(dir.file("log"), 1);
    EXPECT_FALSE(log->append("two\n")) << how;
    EXPECT_FALSE(log->append("three\n")) << "nor later";
  }
}

TEST(AppendLog, NoFailedCallIsPassedOver) {
  for (const int error : {EIO, EROFS, EINVAL, ENOLCK}) {
    for (std::int64_t at = 1;; ++at) {
      const TempDir dir;
      FaultyDisk disk({Fault::Kind::kError, at, error, false});
      const FileSystemInUse in_use(disk);
      auto log = AppendLog::open(dir.file("log"));
      const bool fine = log && log->append("one\n");
      if (disk.hit().empty()) break;
      // A file system that can't sync folders says EINVAL, and keeps their entries by other means.
      const bool folder = error == EINVAL && disk.hit().starts_with("sync(");
      EXPECT_EQ(fine, folder && fine) << disk.hit() << " " << error;
    }
  }
  // The log's own sync is never passed over.
  class NoSync final : public FileSystem {
   public:
    int sync_data(int) override {
      errno = EINVAL;
      return -1;
    }
  } disk;
  const TempDir dir;
  const FileSystemInUse in_use(disk);
  auto log = AppendLog::open(dir.file("log"));
  ASSERT_TRUE(log);
  EXPECT_FALSE(log->append("one\n"));
}

TEST(AppendLog, AfterATornWriteNothingFollows) {
  for (std::int64_t at = 1; at < 60; ++at) {
    const TempDir dir;
    std::string written;
    {
      FaultyDisk disk({Fault::Kind::kError, at, ENOSPC, false});
      const FileSystemInUse in_use(disk);
      auto log = AppendLog::open(dir.file("log"));
      if (!log) continue;
      bool failed = false;
      for (const char* line : {"one\n", "two\n", "three\n"}) {
        const bool fine = log->append(line).has_value();
        EXPECT_FALSE(failed && fine) << "a line after one that was refused";
        failed = failed || !fine;
        if (fine) written += line;
      }
    }
    EXPECT_TRUE(TempDir::read(dir.file("log")).starts_with(written)) << at;
  }
}

TEST(Reading, IsLimited) {
  const TempDir dir;
  dir.write("a", std::string(100, 'x'));
  EXPECT_TRUE(read_text_file(dir.file("a"), 100));
  EXPECT_EQ(read_text_file(dir.file("a"), 99).error().kind, ErrorKind::kBadData);
  EXPECT_EQ(read_text_file("/dev/zero", 1 << 20).error().kind, ErrorKind::kBadData);
  EXPECT_EQ(read_text_file("/dev/zero", kMostModelBytes).error().kind, ErrorKind::kBadData)
      << "a device has no size: it is not read for 16 GB";
  EXPECT_EQ(read_text_file(dir.file("")).error().kind, ErrorKind::kIo);
  EXPECT_EQ(read_text_file(dir.file(std::string(300, 'a'))).error().kind, ErrorKind::kIo);
}

TEST(Reading, ACallThatWaitsEndsWithASignal) {
  const TempDir dir;
  dir.write("a", "x");
  FaultyDisk disk({Fault::Kind::kError, 1, EINTR, true});
  const FileSystemInUse in_use(disk);
  request_stop();
  const auto text = read_text_file(dir.file("a"));
  forget_stop();
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().kind, ErrorKind::kInterrupted);
}

// Two releases with the same noise can be subtracted.
TEST(Fork, TheChildHasItsOwnNoise) {
  Stream noise = Stream::secure(Purpose::kNoise);
  Stream seeded = Stream::seeded(1, Purpose::kNoise);
  noise.next();
  seeded.next();
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  std::array<std::uint64_t, 4> words{noise.next(), 0, 0, seeded.next()};
  std::array<std::byte, 8> bytes;
  noise.fill(bytes);
  std::memcpy(&words[1], bytes.data(), bytes.size());
  words[2] = noise.next();
  if (child == 0) {
    const bool sent = ::write(pipe[1], words.data(), sizeof words) == sizeof words;
    ::_exit(sent ? 0 : 1);
  }
  std::array<std::uint64_t, 4> other{};
  ASSERT_EQ(::read(pipe[0], other.data(), sizeof other), static_cast<ssize_t>(sizeof other));
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NE(words[k], other[k]) << k;
  EXPECT_EQ(words[3], other[3]) << "a seed is a seed";
}

}  // namespace
}  // namespace sotto::testing
