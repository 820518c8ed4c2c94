#include "sotto/core/file.hpp"

#include <gtest/gtest.h>

#include <filesystem>

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

}  // namespace
}  // namespace sotto
