#include "sotto/core/paths.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/temp_dir.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

TEST(Paths, WhatIsWrittenIsNeitherReadNorWrittenTwice) {
  const testing::TempDir folder;
  const std::string data = folder.write("data.csv", "1\n");
  fs::create_symlink(data, folder.file("link.csv"));
  fs::create_hard_link(data, folder.file("hard.csv"));
  const std::string model = folder.file("model.json");
  EXPECT_TRUE(check_paths_differ({{"the data", data}}, {{"the model", model}, {"--plot", ""}}));
  for (const std::string& same : {data,
                                  folder.file("./data.csv"),
                                  folder.file("link.csv"),
                                  folder.file("hard.csv"),
                                  folder.file("none.npy") + "," + data}) {
    const auto checked = check_paths_differ({{"the data", data}}, {{"the model", same}});
    ASSERT_FALSE(checked) << same;
    EXPECT_EQ(checked.error().kind, ErrorKind::kUsage);
    EXPECT_NE(checked.error().message.find("the model would be written over the data"),
              std::string::npos);
  }
  // Neither exists yet.
  const auto twice =
      check_paths_differ({}, {{"the model", model}, {"--record", folder.file("x/../model.json")}});
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.error().message.find("the model and --record would be the same file"),
            std::string::npos);
}

}  // namespace
}  // namespace sotto
