// The inner points of a record's curve are priced again, by the function that made them.

#include <gtest/gtest.h>

#include <ctime>
#include <functional>

#include "tests/cli/forgery.hpp"

namespace sotto::testing {
namespace {

using nlohmann::json;
constexpr const char* kPrice = "epsilon_if_planned_to_end_here";

struct Edit {
  const char* what;
  std::function<void(json&)> edit;
  bool fine = false;  ///< not seen by bounds
};

void scale(json& number, double by) { number = by * number.get<double>(); }

/// Of one number of a curve's inner points, named `name`.
std::vector<Edit> edits_of(const char* name) {
  return {{"a little less", [=](json& s) { scale(s[s.size() / 2][name], 0.9999); }, true},
          {"a little more", [=](json& s) { scale(s[s.size() / 2][name], 1.0001); }, true},
          {"half", [=](json& s) { scale(s[1][name], 0.5); }},
          {"two swapped", [=](json& s) { std::swap(s[2][name], s[3][name]); }},
          {"as before", [=](json& s) { s[3][name] = s[2][name]; }, true},
          {"all, smoothly",
           [=](json& s) {
             for (std::size_t k = 0; k + 1 < s.size(); ++k) scale(s[k][name], 0.95);
           },
           true},
          {"one without", [=](json& s) { s[2].erase(name); }},
          {"all without",
           [=](json& s) {
             for (json& point : s) point.erase(name);
           }},
          {"nothing", [=](json& s) { s[2][name] = nullptr; }}};
}

class Curves : public ::testing::TestWithParam<Words> {};
INSTANTIATE_TEST_SUITE_P(Runs,
                         Curves,
                         ::testing::Values(Words{"--method dp-gd --epsilon 1 --steps 40"},
                                           Words{"--method dp-sgd --epsilon 2 --steps 100"},
                                           Words{"--method dp-srm --noise-multiplier 3 --steps 20"},
                                           Words{"--method adp-sgd --epsilon 3 --steps 40"},
                                           Words{"--method dp-agd --epsilon 3"}));

TEST_P(Curves, EveryPointIsPricedAgain) {
  const TempDir dir;
  const Files files = trained(dir, GetParam());
  ASSERT_FALSE(found(files));
  const json& points = files.record["spending"];
  ASSERT_GE(points.size(), 5U);
  const bool filter = points[0].contains("filter_share");
  ASSERT_NE(filter, points[0].contains(kPrice));
  // Of more than two kinds of releases a point does not say which they were.
  const bool schedule = GetParam()[1] == "adp-sgd";
  for (const Edit& edit : edits_of(filter ? "filter_share" : kPrice)) {
    if (schedule && edit.fine) continue;
    Files edited = files;
    edit.edit(edited.record["spending"]);
    if (edited.record == files.record) continue;
    EXPECT_TRUE(found(edited)) << edit.what;
    if (!filter) {
      EXPECT_TRUE(found_alone(edited.record)) << edit.what;
    }
  }
}

TEST_P(Curves, CountsOfReleasesArePaidFor) {
  const TempDir dir;
  const Files files = trained(dir, GetParam());
  for (const auto& edit : std::vector<Edit>{
           {"fewer releases", [](json& s) { s[3]["releases"] = s[2]["releases"]; }},
           {"more releases", [](json& s) { s[2]["releases"] = s[3]["releases"]; }},
           {"fewer passes", [](json& s) { s[3]["passes"] = 0.5 * s[3]["passes"].get<double>(); }},
           {"no samples", [](json& s) { s[3]["noise_samples"] = 0; }},
           {"a step twice", [](json& s) { s[3]["step"] = s[2]["step"]; }},
           {"a point twice", [](json& s) { s.insert(s.begin() + 3, s[3]); }},
           {"a thousand points", [](json& s) {
              const json first = s[0];
              for (int k = 0; k < 1000; ++k) s.insert(s.begin(), first);
            }}}) {
    Files edited = files;
    edit.edit(edited.record["spending"]);
    EXPECT_TRUE(found(edited)) << edit.what;
  }
}

TEST_P(Curves, TheOthersCountAlike) {
  const TempDir dir;
  const Files files = trained(dir, GetParam());
  for (const auto& edit : std::vector<Edit>{
           {"fewer passes", [](json& t) { scale(t[1]["passes"], 0.9); }},
           {"more passes", [](json& t) { scale(t[1]["passes"], 1.1); }},
           {"passes that fall", [](json& t) { std::swap(t[1]["passes"], t[4]["passes"]); }},
           {"more than in all", [](json& t) { scale(t.back()["passes"], 1.1); }},
           {"a step twice", [](json& t) { t[1]["step"] = t[0]["step"]; }},
           {"a step too many", [](json& t) { t.back()["step"] = 100'000'000; }},
           {"no list", [](json& t) { t = "x"; }}}) {
    Files edited = files;
    edit.edit(edited.record["trace"]);
    EXPECT_TRUE(found_alone(edited.record)) << edit.what;
  }
}

TEST(LowerBounds, AreTheAccountants) {
  const TempDir dir;
  const Files files = trained(dir, {"--method dp-sgd --epsilon 2 --steps 30"});
  ASSERT_TRUE(files.record.contains("epsilon_lower"));
  ASSERT_GT(files.record["epsilon_lower"].get<double>(), 0);
  for (const double by : {0.0, 0.5, 0.999, 1.001, -1.0}) {
    json record = files.record;
    scale(record["epsilon_lower"], by);
    EXPECT_TRUE(found_alone(record)) << by;
  }
  const TempDir other;
  Files filtered = trained(other, {"--method dp-agd --epsilon 3"});
  filtered.record["epsilon_lower"] = 0.1;
  EXPECT_TRUE(found_alone(filtered.record)) << "a filter proves none";
}

// Also of a long run with sampled batches, whose points take PLD accounting each.
TEST(LongCurves, TakeNoLongerThanAReaderWaits) {
  const TempDir dir;
  const Files files = trained(dir, {"--method dp-sgd --epsilon 1 --steps 5000 --batch 8"});
  const std::clock_t begin = std::clock();
  const auto result = verify_record(files.record);
  EXPECT_LT(std::clock() - begin, 2 * CLOCKS_PER_SEC) << "of the processor";
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->contradicts());
  for (const RecordCheck& check : result->checks)
    EXPECT_TRUE(check.name != "spending") << "all points are priced: " << check.detail;
}

}  // namespace
}  // namespace sotto::testing
