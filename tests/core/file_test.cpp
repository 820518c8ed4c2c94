#include "sotto/core/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "sotto/core/file_kind.hpp"
#include "sotto/core/paths.hpp"
#include "tests/support/temp_dir.hpp"

namespace sotto {
namespace {

using testing::TempDir;

TEST(Files, AreReplacedWholeAndLeaveNoTemporaryBehind) {
  const TempDir dir;
  const std::string path = dir.write("a", "old");
  ASSERT_TRUE(write_file_atomically(path, "new content"));
  EXPECT_EQ(*read_text_file(path), "new content");
  int files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(dir.file("")))
    ++files;
  EXPECT_EQ(files, 1);
}

TEST(Files, FailuresAreIoErrors) {
  const TempDir dir;
  EXPECT_EQ(write_file_atomically(dir.file("no/such/a"), "x").error().kind, ErrorKind::kIo);
  EXPECT_EQ(check_writable(dir.file("")).error().kind, ErrorKind::kIo);
  EXPECT_EQ(check_writable(dir.file("no/such/a")).error().kind, ErrorKind::kIo);
  EXPECT_EQ(read_text_file(dir.file("none")).error().kind, ErrorKind::kIo);
  EXPECT_EQ(read_text_file(dir.file("")).error().kind, ErrorKind::kIo);
  EXPECT_TRUE(check_writable(dir.file("b")));
  EXPECT_FALSE(std::filesystem::exists(dir.file("b")));
}

// A backup's link, or another mode, is no other content.
TEST(Files, AreReplacedAfterALinkToThemWasMade) {
  const TempDir dir;
  const std::string model = "{\"sotto_model\": 1}";
  const std::string path = dir.write("a", model);
  ASSERT_EQ(*kind_at(path), FileKind::kModel);
  auto file = AtomicFile::create(path, FileAccess::kOwner);
  ASSERT_TRUE(file && file->write(model));
  std::filesystem::create_hard_link(path, dir.file("backup"));
  std::filesystem::permissions(path, std::filesystem::perms::owner_read);
  AtomicFile moved = *std::move(file);  // and all that it knows
  EXPECT_TRUE(moved.commit().has_value());
}

// What /dev/fd/N leads to is written to, not replaced.
TEST(Files, OpenDescriptorsAreWrittenTo) {
  const TempDir dir;
  const std::string path = dir.write("log", "before\n");
  const int log = ::open(path.c_str(), O_WRONLY | O_APPEND);
  ASSERT_GE(log, 0);
  for (const std::string& name :
       {fmt::format("/dev/fd/{}", log), fmt::format("/proc/{}/fd/{}", ::getpid(), log)}) {
    EXPECT_EQ(named_descriptor(name), log);
    EXPECT_EQ(check_writable(name).error().kind, ErrorKind::kIo) << "it keeps nothing";
    EXPECT_EQ(write_file_atomically(name, "x").error().kind, ErrorKind::kIo);
    EXPECT_TRUE(check_writable(name, StreamTargets::kAllowed));
    EXPECT_TRUE(write_file_atomically(name, "more\n", FileAccess::kOwner, StreamTargets::kAllowed));
  }
  ASSERT_EQ(::write(log, "after\n", 6), 6);
  EXPECT_EQ(*read_text_file(path), "before\nmore\nmore\nafter\n");
  ::close(log);
  const std::string closed = fmt::format("/dev/fd/{}", log);
  EXPECT_FALSE(check_writable(closed, StreamTargets::kAllowed));
  EXPECT_FALSE(write_file_atomically(closed, "x", FileAccess::kOwner, StreamTargets::kAllowed));
  EXPECT_FALSE(named_descriptor("/dev/fd/x"));
  EXPECT_FALSE(named_descriptor("/dev/shm/1"));
}

// What nothing can make again is replaced by its own kind alone, also if it was put there after
// this file was begun.
TEST(Files, ReplaceWhatCantBeMadeAgainByItsOwnKindOnly) {
  const TempDir dir;
  const std::string path = dir.file("a");
  const std::vector<std::string> kinds = {
      R"j({"run":"r","open":"gaussian(1)","delta":1e-5})j",
      "\xef\xbb\xbf"
      R"j({"run":"r","open":"gaussian(1)","delta":1e-5})j",  // damaged
      "a note\n"
      R"j({"run":"r","open":"gaussian(1)","delta":1e-5})j",
      "sotto checkpoint 2\n...",
      R"({"sotto_model": 1})",
      R"({"bias": false, "loss": "logistic", "sotto_model": 1})",  // sorted by a tool
      " \n{\"sotto_model\": 1}",  // blanks before it change nothing
      R"({"epsilon_spent": 1, "sotto_run": 1})",
      "plain text"};
  for (const std::string& there : kinds) {
    for (const std::string& written : kinds) {
      for (const bool meanwhile : {false, true}) {  // it came while the file was written
        const bool fits =
            there == kinds.back() || (!meanwhile && kind_of(there) == kind_of(written));
        dir.write("a", meanwhile ? "before" : there);
        auto file = AtomicFile::create(path, FileAccess::kOwner);
        ASSERT_TRUE(file && file->write(written));
        if (meanwhile) dir.write("a", there);
        EXPECT_EQ(file->commit().has_value(), fits) << there << " by " << written;
        EXPECT_EQ(*read_text_file(path), fits ? written : there);
      }
    }
  }
}

}  // namespace
}  // namespace sotto
