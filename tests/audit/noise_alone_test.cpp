// What sotto/audit/noise_alone.md claims, held against runs on rows.

#include "sotto/audit/noise_alone.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sotto/data/table.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/optimizer/parts/schedule.hpp"
#include "sotto/training/train.hpp"
#include "tests/support/statistics.hpp"

namespace sotto {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr std::int64_t kRows = 60;
constexpr std::int64_t kTelling = 3;  // features that differ between rows
constexpr std::int64_t kFlat = 16;    // features that are 0 in all rows
constexpr std::int64_t kDimension = kTelling + kFlat;

/// Rows of norm 1 at most, the first feature much longer than the third: steep and gentle
/// curvature.
Table small_rows() {
  std::vector<float> values, labels;
  for (std::int64_t i = 0; i < kRows; ++i) {
    const double angle = static_cast<double>(i);
    Vector x = Vector::Zero(kDimension);
    x.head(kTelling) << std::cos(angle), 0.5 * std::sin(angle), 0.2 * std::cos(3 * angle);
    x *= 0.999 / std::max(1.0, x.norm());  // so that floats are not longer than 1
    for (const double each : x) values.push_back(static_cast<float>(each));
    labels.push_back(x[0] + 0.3 * std::sin(7 * angle) > 0 ? 1.0F : -1.0F);
  }
  return TableBuilder::dense(kRows, kDimension, values, labels, {});
}

class Runs {
 public:
  Runs(std::string method, GivenOptions options) : engine_(rows_, {}) {
    options_.method = std::move(method);
    options_.options = std::move(options);
    options_.delta = 1e-5;
    options_.noise_multiplier = 20;
    options_.accountant = "rdp";
    problem_.n = kRows;
    problem_.dimension = kDimension;
    problem_.row_norm = 1;
    problem_.linear_rows = true;
    problem_.regularizer = Regularizer(RegularizerKind::kL2, 0.05);
  }

  TrainResult run(std::uint64_t seed) {
    options_.seed = seed;
    NoObserver observer;
    auto prepared = prepare(problem_, options_);
    EXPECT_TRUE(prepared) << prepared.error().message;
    auto result = train(engine_, problem_, options_, *std::move(prepared), observer);
    EXPECT_TRUE(result) << result.error().message;
    EXPECT_TRUE(result->ledger->close(kFinished));
    return *std::move(result);
  }

  json record() {
    RunRecord record = run(1).record;
    record.loss = "logistic";
    record.regularizer = "l2:0.05";
    record.options = {{"row_norm", "1", Origin::kGiven, "Data"}};
    return json::parse(to_text(record));
  }

  /// The weights' variances over runs with different seeds.
  Vector variances(int runs) {
    Vector mean = Vector::Zero(kDimension), squares = mean;
    for (int k = 1; k <= runs; ++k) {
      const Vector w = run(static_cast<std::uint64_t>(k)).w;
      const Vector step = w - mean;
      mean += step / k;
      squares += step.cwiseProduct(w - mean);
    }
    return squares / (runs - 1);
  }

 private:
  Table rows_ = small_rows();
  GlmEngine engine_;
  PublicProblem problem_;
  TrainOptions options_;
};

/// A variance estimated with so many degrees of freedom is this many times the true one at most,
/// and the other way round at least.
std::pair<double, double> spread(int degrees) {
  const boost::math::chi_squared law(degrees);
  const double alpha = testing::kFalseAlarm;
  return {quantile(law, alpha) / degrees, quantile(complement(law, alpha)) / degrees};
}

// A 4096th of the sum of as many squares.
const auto [kStatedLow, kStatedHigh] = spread(4096);

struct Case {
  std::string method;
  GivenOptions options;
};

class NoiseOfRuns : public ::testing::TestWithParam<Case> {};

TEST_P(NoiseOfRuns, IsAtMostTheStatedOneAndThatWhereRowsSayNothing) {
  constexpr int kRuns = 1000;
  Runs runs(GetParam().method, GetParam().options);
  const auto stated = noise_alone(runs.record());
  ASSERT_TRUE(stated) << stated.error().message;
  EXPECT_TRUE(stated->bound);
  EXPECT_LT(stated->weight, stated->intercept) << "the regularizer pulls it back";
  const Vector variances = runs.variances(kRuns);

  const auto holds = [&](double weight) {
    const double variance = weight * weight;
    bool all = true;
    const double most = spread(kRuns - 1).second / kStatedLow;
    for (std::int64_t j = 0; j < kTelling; ++j) all = all && variances[j] <= most * variance;
    const auto [low, high] = spread(kFlat * (kRuns - 1));
    const double flat = variances.tail(kFlat).mean();
    return all && flat <= high / kStatedLow * variance && flat >= low / kStatedHigh * variance;
  };
  EXPECT_TRUE(holds(stated->weight)) << stated->weight << "\n" << variances.cwiseSqrt();
  EXPECT_NEAR(std::sqrt(variances.tail(kFlat).mean()) / stated->weight, 1, 0.1);
  EXPECT_FALSE(holds(stated->weight / 2)) << "the twin that states half";
  EXPECT_FALSE(holds(stated->weight * 2)) << "the twin that states twice as much";
  EXPECT_LT(variances[0], 0.9 * stated->weight * stated->weight) << "curvature can be seen";
}

INSTANTIATE_TEST_SUITE_P(
    All,
    NoiseOfRuns,
    ::testing::Values(
        Case{"dp-gd", {{"steps", "40"}, {"step_size", "2"}}},
        Case{"dp-gd",
             {{"steps", "40"},
              {"step_size", "3"},
              {"momentum", "0"},
              {"schedule", "constant"},
              {"average", "0.5"}}},
        Case{"dp-sgd", {{"steps", "40"}, {"step_size", "2"}, {"expected_batch", "10"}}},
        Case{"dp-sgd",
             {{"steps", "40"}, {"step_size", "2"}, {"momentum", "0"}, {"expected_batch", "10"}}}));

TEST(NoiseAlone, TheSameRecordHasTheSameNoise) {
  Runs runs("dp-sgd", {{"steps", "10"}, {"expected_batch", "10"}});
  const json record = runs.record();
  const auto once = noise_alone(record);
  const auto again = noise_alone(record);
  ASSERT_TRUE(once && again);
  EXPECT_EQ(once->weight, again->weight);
  EXPECT_EQ(once->intercept, again->intercept);
}

// The formula, for methods whose noise is simple: one step of size eta moves by eta · z · C / n.
TEST(NoiseAlone, OfOneStep) {
  Runs runs("dp-gd",
            {{"steps", "1"}, {"step_size", "2"}, {"clip_radius", "0.5"}, {"momentum", "0"}});
  json record = runs.record();
  const double expected = 2 * 20 * 0.5 / kRows;
  EXPECT_NEAR(noise_alone(record)->weight, expected, 0.06 * expected);
  record["neighbours"] = record["privacy"]["neighbours"] = "replace-one";
  EXPECT_NEAR(noise_alone(record)->weight, 2 * expected, 0.12 * expected) << "twice as sensitive";
}

TEST(NoiseAlone, IsABoundOnlyWhereThatIsProved) {
  Runs runs("dp-gd", {{"steps", "5"}, {"step_size", "2"}});
  const json record = runs.record();
  ASSERT_TRUE(noise_alone(record)->bound);
  json other = record;
  other["loss"] = "sigmoid";
  EXPECT_FALSE(noise_alone(other)->bound) << "not convex";
  other = record;
  other["privacy"]["unit"] = "patient";
  EXPECT_FALSE(noise_alone(other)->bound) << "a person's sum is clipped as a whole";
  other["privacy"]["most_rows"] = 1;
  EXPECT_TRUE(noise_alone(other)->bound);
  other = record;
  other["regularizer"] = "nonconvex:0.1";
  EXPECT_FALSE(noise_alone(other)->bound);
  other = record;
  other["options"][0]["value"] = "4";  // 2 · (16/4 + 2 · 0.05) > 2
  EXPECT_FALSE(noise_alone(other)->bound) << "a step longer than 2/L";
}

TEST(NoiseAlone, WhereNoiseIsNotPassedOnInProportionThereIsNone) {
  const auto refusal = [](const std::string& method, const GivenOptions& options) {
    const auto noise = noise_alone(Runs(method, options).record());
    return noise ? "none" : noise.error().message;
  };
  EXPECT_THAT(refusal("dp-gd", {{"steps", "5"}, {"update", "adam"}}), HasSubstr("in proportion"));
  EXPECT_THAT(refusal("dp-gd", {{"steps", "5"}, {"clip_quantile", "0.5"}}),
              HasSubstr("in proportion"));
  EXPECT_THAT(refusal("dp-gd", {{"steps", "5"}, {"output", "best"}}), HasSubstr("private choice"));
  EXPECT_THAT(refusal("dp-newton", {}), HasSubstr("more than noisy gradients"));
  EXPECT_THAT(refusal("dp-sgd", {{"steps", "30000"}, {"expected_batch", "1"}}),
              HasSubstr("take too long"));
  // Nulls for all of them would not fit into memory.
  json wide = Runs("dp-gd", {{"steps", "5"}}).record();
  wide["neighbours"] = wide["privacy"]["neighbours"] = "replace-one";
  wide["privacy"]["public_n"] = std::int64_t{1} << 50;
  EXPECT_THAT(noise_alone(wide).error().message, HasSubstr("take too long"));
  json network = Runs("dp-gd", {{"steps", "5"}}).record();
  network["loss"] = "network";
  EXPECT_THAT(noise_alone(network).error().message, HasSubstr("network"));
  for (const char* member : {"settings", "privacy", "neighbours", "noise_multiplier"}) {
    json broken = Runs("dp-gd", {{"steps", "5"}}).record();
    broken.erase(member);
    EXPECT_FALSE(noise_alone(broken)) << member;
  }
}

/// The variance that unit noise leaves in a weight of curvature h, pulled back by l2.
double variance(double h, double l2, double momentum, Schedule schedule, std::int64_t steps) {
  const StepSchedule eta(schedule, 1, steps);
  double sum = 0;
  for (std::int64_t begin = 0; begin < steps; ++begin) {
    double w = 0, m = 0;
    for (std::int64_t t = begin; t < steps; ++t) {
      m = momentum * m + (h + l2) * w + (t == begin ? 1 : 0);
      w -= eta(t) * m;
    }
    sum += w * w;
  }
  return sum;
}

// With momentum and falling steps there is no proof, but this: on a grid of curvatures, steps of
// size 1.
TEST(NoiseAlone, WithMomentumCurvatureOnlyShrinksIt) {
  for (const auto& [schedule, name] : kSchedules)
    for (const std::int64_t steps : {1, 5, 37, 150})
      for (const double momentum : {0.0, 0.5, 0.9, 0.99})
        for (const double l2 : {0.0, 0.01, 0.2}) {
          const double flat = variance(0, l2, momentum, schedule, steps);
          for (double h = 0.002; h + 2 * l2 <= 2; h *= 1.25)
            EXPECT_LE(variance(h, l2, momentum, schedule, steps), flat * (1 + 1e-12))
                << name << " " << steps << " " << momentum << " " << l2 << " " << h;
        }
  EXPECT_GT(variance(2.5, 0, 0, Schedule::kConstant, 37),
            variance(0, 0, 0, Schedule::kConstant, 37))
      << "steps longer than 2/L";
}

}  // namespace
}  // namespace sotto
