// Every reproduction in quick mode.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/command.hpp"
#include "tests/support/shared_data.hpp"

namespace sotto::testing {
namespace {

TEST(Reproduce, AllOfThemRunQuickly) {
  SOTTO_NEEDS_DATA("libsvm/a9a.gz");
  const TempDir dir;
  // Without --data: the source tree's own places, CIFAR's among them.
  const auto run = sotto({"reproduce all --quick --out", dir.file("out")});
  ASSERT_EQ(run.code, 0) << run.err;
  std::printf("%s", run.out.c_str());
  int pages = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir.file("out")))
    pages += entry.path().extension() == ".html";
  int specs = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(SOTTO_SOURCE_DIR) + "/studies"))
    specs += entry.path().extension() == ".toml" && entry.path().filename() != "papers.toml";
  EXPECT_GT(specs, 20);
  EXPECT_EQ(pages, specs + 1);  // and the index
  const std::string index = TempDir::read(dir.file("out/index.html"));
  for (const char* number : {"0.3579", "0.4155", "0.729", "56.38", "33.2"})
    EXPECT_THAT(index, ::testing::HasSubstr(number)) << "a published number is missing";
}

}  // namespace
}  // namespace sotto::testing
