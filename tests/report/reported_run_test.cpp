#include "sotto/report/reported_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "sotto/record/record_json.hpp"
#include "tests/support/sample_record.hpp"
#include "tests/support/temp_dir.hpp"

namespace sotto {
namespace {

using ::testing::HasSubstr;
using testing::sample_record;
using testing::TempDir;

TEST(ReportedRun, ReadsBackWhatWasWritten) {
  const RunRecord record = sample_record();
  const auto run = reported_run(to_json(record), "label", "x");
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->label, "label");
  EXPECT_EQ(run->record.method, record.method);
  EXPECT_EQ(run->record.privacy.epsilon, record.privacy.epsilon);
  EXPECT_EQ(run->record.epsilon_lower, record.epsilon_lower);
  EXPECT_EQ(run->record.trace.size(), record.trace.size());
  EXPECT_EQ(run->record.trace[3].gradient_norm, record.trace[3].gradient_norm);
  ASSERT_EQ(run->record.spending.size(), 4u);
  EXPECT_EQ(run->record.spending[2].epsilon, record.spending[2].epsilon);
  EXPECT_FALSE(run->by_filter());
  EXPECT_EQ(run->record.test_curve[1].accuracy, record.test_curve[1].accuracy);
  EXPECT_EQ(run->record.options[0].group, "Privacy");
  EXPECT_EQ(run->record.settings[1].origin, record.settings[1].origin);
  EXPECT_EQ(run->record.command, record.command);
  EXPECT_EQ(run->metric("accuracy"), 0.835);
  EXPECT_EQ(run->metric("rmse"), std::nullopt);
  EXPECT_EQ(run->confusion, (std::vector<std::vector<std::int64_t>>{{600, 65}, {100, 235}}));
}

TEST(ReportedRun, ReadsRecordsFromBeforeReports) {
  nlohmann::json json = to_json(sample_record());
  for (const char* newer :
       {"spending", "epsilon_lower", "test_curve", "options", "command", "versions", "class_names"})
    ASSERT_EQ(json.erase(newer), 1u) << newer;
  const auto run = reported_run(json, "old", "x");
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_TRUE(run->record.spending.empty());
  EXPECT_EQ(run->record.version, "0.1.0");
}

TEST(ReportedRun, ReadsInfinityAndTestMetricsOfAnyKind) {
  nlohmann::json json = to_json(sample_record());
  json["epsilon_budget"] = nullptr;
  json["test"] = {{"rows", 10}, {"loss", 2.5}, {"rmse", 1.5}, {"auc", nullptr}};
  const auto run = reported_run(json, "x", "x");
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_TRUE(std::isinf(run->record.epsilon_budget));
  EXPECT_EQ(run->metric("rmse"), 1.5);
  EXPECT_EQ(run->metric("auc"), std::nullopt);
  EXPECT_TRUE(run->confusion.empty());
}

TEST(ReportedRun, SaysWhatIsWrongWithAFile) {
  const TempDir dir;
  const auto error_of = [&](const std::string& text) {
    const auto run = load_run(dir.write("x.json", text));
    EXPECT_FALSE(run);
    EXPECT_EQ(run.error().kind, ErrorKind::kBadData);
    return run.error().message;
  };
  EXPECT_THAT(error_of("{\"sotto_run\": 1, "), HasSubstr("cut short"));
  EXPECT_THAT(error_of("{\"sotto_model\": 1}"), HasSubstr("not a run record"));
  EXPECT_THAT(error_of("[1]"), HasSubstr("not a run record"));
  EXPECT_THAT(error_of("{\"sotto_run\": 2}"), HasSubstr("newer"));
  EXPECT_THAT(error_of("{\"sotto_run\": 1}"), HasSubstr("misses parts"));
  nlohmann::json json = to_json(sample_record());
  json["trace"][0]["step"] = "one";
  EXPECT_THAT(error_of(json.dump()), HasSubstr("changed by hand"));
  EXPECT_EQ(load_run(dir.file("none.json")).error().kind, ErrorKind::kIo);
}

TEST(ReportedRun, IsNamedAfterItsFile) {
  const TempDir dir;
  const auto run = load_run(dir.write("small.run.json", to_json(sample_record()).dump()));
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->label, "small.run");
}

}  // namespace
}  // namespace sotto
