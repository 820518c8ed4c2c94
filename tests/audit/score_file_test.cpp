#include "sotto/audit/score_file.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/temp_dir.hpp"

namespace sotto {
namespace {

TEST(ScoreFile, ReadsBackToTheLastBit) {
  const testing::TempDir dir;
  Scores scores;
  scores.world[0] = {0.1, -1e-300, std::nan("")};
  scores.world[1] = {1.0 / 3, 1e300, -0.0};
  ASSERT_TRUE(save_scores(dir.file("scores"), "this audit", scores));
  const auto back = load_scores(dir.file("scores"), "this audit");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->world[1], scores.world[1]);
  EXPECT_EQ(back->world[0][1], -1e-300);
  EXPECT_TRUE(std::isnan(back->world[0][2]));
}

TEST(ScoreFile, AMissingFileIsAFreshStartAndAnotherAuditsFileIsRefused) {
  const testing::TempDir dir;
  EXPECT_EQ(load_scores(dir.file("none"), "a")->runs(), 0);
  ASSERT_TRUE(save_scores(dir.file("scores"), "another audit", {}));
  EXPECT_EQ(load_scores(dir.file("scores"), "this audit").error().kind, ErrorKind::kBadData);
  for (const char* text :
       {"",
        "{",
        "[]",
        "{\"sotto_audit\": \"x\"}",
        "{\"sotto_audit\": 1e300}",
        "{\"sotto_audit\": 18446744073709551615}",
        "{\"sotto_audit\": 1, \"audit\": 3}",
        "{\"sotto_audit\": 1, \"audit\": \"a\"}",
        "{\"sotto_audit\": 1, \"audit\": \"a\", \"world0\": [1], \"world1\": []}",
        "{\"sotto_audit\": 1, \"audit\": \"a\", \"world0\": [\"x\"], \"world1\": [1]}"})
    EXPECT_EQ(load_scores(dir.write("bad", text), "a").error().kind, ErrorKind::kBadData) << text;
}

}  // namespace
}  // namespace sotto
