#include "sotto/model/recalibrate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "sotto/model/evaluate.hpp"
#include "sotto/objective/network/spec.hpp"

namespace sotto {
namespace {

using ::testing::HasSubstr;
using Method = Recalibration::Method;

double logistic(double score) { return 1 / (1 + std::exp(-score)); }

struct Sample {
  std::vector<double> scores;
  std::vector<float> labels;
  std::vector<double> units;
};

/// Scores whose probabilities are wrong: the true ones are logistic(slope · score + intercept).
Sample miscalibrated(unsigned seed, int rows, double slope, double intercept) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  Sample s;
  for (int i = 0; i < rows; ++i) {
    s.scores.push_back(3 * normal(generator));
    s.labels.push_back(uniform(generator) < logistic(slope * s.scores.back() + intercept) ? 1 : -1);
    s.units.push_back(1);
  }
  return s;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Mean of (p - y) · factor: 0 at the best fit, for the units and for the scores.
double residual(const Sample& s, const ScoreFit& fit, const std::vector<double>& factor) {
  std::vector<double> terms;
  for (std::size_t i = 0; i < s.scores.size(); ++i)
    terms.push_back((logistic(fit.slope * s.scores[i] + fit.intercept * s.units[i]) -
                     (s.labels[i] > 0 ? 1 : 0)) *
                    factor[i]);
  return mean(terms);
}

TEST(Recalibrate, TheMeanPredictionIsTheObservedShare) {
  for (const double slope : {0.2, 1.0, 3.0})
    for (const double intercept : {-4.0, 0.5}) {
      const Sample s = miscalibrated(7, 500, slope, intercept);
      const auto platt = fit_scores(s.scores, s.labels, s.units, Method::kPlatt);
      ASSERT_TRUE(platt) << platt.error().message;
      EXPECT_NEAR(residual(s, *platt, s.units), 0, 1e-9);
      EXPECT_NEAR(residual(s, *platt, s.scores), 0, 1e-9) << "the slope is the best one, too";
      const auto shifted = fit_scores(s.scores, s.labels, s.units, Method::kIntercept);
      ASSERT_TRUE(shifted);
      EXPECT_EQ(shifted->slope, 1);
      EXPECT_NEAR(residual(s, *shifted, s.units), 0, 1e-9);
    }
}

TEST(Recalibrate, FindsWhatTheProbabilitiesWere) {
  const Sample s = miscalibrated(11, 200'000, 0.6, -1);
  const auto fit = fit_scores(s.scores, s.labels, s.units, Method::kPlatt);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->slope, 0.6, 0.03);  // six standard errors are less
  EXPECT_NEAR(fit->intercept, -1, 0.06);
}

TEST(Recalibrate, ScoresWhoseProbabilitiesAreAllZeroOrOne) {
  Sample s = miscalibrated(5, 300, 1, 0);
  for (double& score : s.scores) score = 1e6 * score + 5e6;
  for (const Method method : {Method::kPlatt, Method::kIntercept}) {
    const auto fit = fit_scores(s.scores, s.labels, s.units, method);
    ASSERT_TRUE(fit) << fit.error().message;
    if (method == Method::kPlatt) {
      EXPECT_NEAR(residual(s, *fit, s.units), 0, 1e-9);
    } else {
      EXPECT_LE(std::abs(residual(s, *fit, s.units)), 1.0 / 300) << "one row more or less";
    }
  }
}

std::string refusal(const Sample& s, Method method) {
  const auto fit = fit_scores(s.scores, s.labels, s.units, method);
  EXPECT_FALSE(fit);
  if (fit) return "";
  EXPECT_EQ(fit.error().kind, ErrorKind::kBadData);
  return fit.error().message;
}

TEST(Recalibrate, RefusesWhatHasNoBestFit) {
  const std::vector<double> ones(4, 1);
  const Sample one_class{{1, 2, 3, 4}, {1, 1, 1, 1}, ones};
  for (const Method method : {Method::kPlatt, Method::kIntercept})
    EXPECT_THAT(refusal(one_class, method), HasSubstr("one class"));
  const Sample equal{{2, 2, 2, 2}, {1, -1, 1, 1}, ones};
  EXPECT_THAT(refusal(equal, Method::kPlatt), HasSubstr("all scores are equal"));
  const auto shifted = fit_scores(equal.scores, equal.labels, ones, Method::kIntercept);
  ASSERT_TRUE(shifted);
  EXPECT_NEAR(logistic(2 + shifted->intercept), 0.75, 1e-12);
  EXPECT_THAT(refusal({{1, 2, 3, 4}, {-1, -1, 1, 1}, ones}, Method::kPlatt), HasSubstr("separate"));
  EXPECT_THAT(refusal({{1, 2, 2, 4}, {-1, -1, 1, 1}, ones}, Method::kPlatt), HasSubstr("separate"));
  EXPECT_THAT(refusal(miscalibrated(3, 300, -0.5, 0), Method::kPlatt),
              HasSubstr("the best slope is -"));
}

Model linear_model() {
  Model model;
  model.method = "dp-gd";
  model.w = Eigen::Vector3d(2, -1, 0.5);
  model.bias = true;
  model.privacy.is_private = true;
  model.privacy.epsilon = 1;
  model.certificate = Certificate{};
  return model;
}

Table rows_for_linear(double row_norm) {
  std::vector<float> features;
  std::vector<float> labels;
  for (int i = 0; i < 60; ++i) {
    features.push_back(0.1F * static_cast<float>(i % 13));
    features.push_back(0.2F * static_cast<float>(i % 7));
    labels.push_back((i * 5) % 17 < i % 13 ? 1 : -1);
  }
  TableBuilder::Options options;
  options.bias = true;
  options.row_norm = row_norm;
  return TableBuilder::dense(60, 2, features, labels, options);
}

TEST(Recalibrate, ALinearModelStaysOneAndPredictsWhatWasFitted) {
  for (const double row_norm : {0.0, 1.2}) {
    const Table rows = rows_for_linear(row_norm);
    Model model = linear_model();
    const auto before = scores(rows, model.w);
    const auto done = recalibrate(model, before, rows, Method::kPlatt);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_FALSE(model.certificate) << "it was of other weights";
    EXPECT_EQ(model.privacy.epsilon, 1);
    ASSERT_TRUE(model.recalibrated);
    EXPECT_EQ(model.recalibrated->rows, 60);
    const auto after = scores(rows, model.w);
    double weighted = 0;
    double plain = 0;
    for (std::size_t i = 0; i < after.size(); ++i) {
      const double unit = rows.row(static_cast<std::int64_t>(i))[2];
      EXPECT_NEAR(after[i],
                  model.recalibrated->slope * before[i] + model.recalibrated->intercept * unit,
                  1e-12);
      const double error = logistic(after[i]) - (rows.labels()[i] > 0 ? 1 : 0);
      weighted += unit * error;
      plain += error;
    }
    EXPECT_NEAR(weighted / 60, 0, 1e-9);
    if (row_norm == 0) {
      EXPECT_NEAR(plain / 60, 0, 1e-9);
      EXPECT_EQ(rescaled_rows(model, rows), 0);
    } else {
      EXPECT_GT(rescaled_rows(model, rows), 0);
    }

    // What fits best already is left as it is, and both times are told as one.
    const Recalibration first = *model.recalibrated;
    ASSERT_TRUE(recalibrate(model, after, rows, Method::kPlatt));
    EXPECT_NEAR(model.recalibrated->slope, first.slope, 1e-6);
    EXPECT_NEAR(model.recalibrated->intercept, first.intercept, 1e-6);
  }
}

TEST(Recalibrate, NoWeightBecomesInfinite) {
  const Table rows = rows_for_linear(0);
  Model model = linear_model();
  model.w *= 1e-310;
  model.w[2] = 1e300;  // as if the scores were of other weights
  const Model before = model;
  std::vector<double> tiny = scores(rows, linear_model().w);
  for (double& score : tiny) score *= 1e-300;
  const auto done = recalibrate(model, tiny, rows, Method::kPlatt);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::kBadData);
  EXPECT_EQ(model.w, before.w);
  EXPECT_FALSE(model.recalibrated);
}

TEST(Recalibrate, RefusesByName) {
  Model model = linear_model();
  model.bias = false;
  EXPECT_EQ(check_recalibration(model).error().kind, ErrorKind::kUsage);
  EXPECT_THAT(check_recalibration(model).error().message, HasSubstr("‘bias’"));
  model = linear_model();
  model.loss = LossKind::kSigmoid;
  EXPECT_THAT(check_recalibration(model).error().message, HasSubstr("the loss sigmoid"));
  for (const auto& [network, reason] :
       {std::pair("layers = [\"linear 3\"]", "the network has 3"),
        {"layers = [\"linear 2 nobias\"]", "linear 2 nobias"},
        {"loss = \"squared\"\nlayers = [\"linear 1\"]", "squared"}}) {
    model.network = std::string("input = [2]\n") + network;
    EXPECT_THAT(check_recalibration(model).error().message, HasSubstr(reason));
  }
}

TEST(Recalibrate, ANetworksLastLayer) {
  for (const bool softmax : {false, true}) {
    Model model;
    model.network = softmax ? "input = [2]\nlayers = [\"linear 3\", \"relu\", \"linear 2\"]"
                            : "input = [2]\nloss = \"logistic\"\n"
                              "layers = [\"linear 3\", \"relu\", \"linear 1\"]";
    const auto spec = parse_network(model.network, "it");
    ASSERT_TRUE(spec) << spec.error().message;
    model.w = initial_weights(*spec, 4);
    std::vector<float> features;
    std::vector<float> labels;
    for (int i = 0; i < 80; ++i) {
      features.push_back(0.1F * static_cast<float>(i % 13));
      features.push_back(0.2F * static_cast<float>(i % 7));
      labels.push_back((i * 5) % 11 < 3 ? 1.0F : softmax ? 0.0F : -1.0F);
    }
    const Table rows = TableBuilder::dense(80, 2, features, labels, {});
    const auto margins = [&] {
      const auto outputs = network_outputs(rows, *spec, model.w);
      std::vector<double> result;
      for (std::size_t i = 0; i < 80; ++i)
        result.push_back(softmax ? (*outputs)[2 * i + 1] - (*outputs)[2 * i] : (*outputs)[i]);
      return result;
    };
    const auto done = recalibrate(model, margins(), rows, Method::kIntercept);
    ASSERT_TRUE(done) << done.error().message;
    double error = 0;
    const auto after = margins();
    for (std::size_t i = 0; i < 80; ++i) error += logistic(after[i]) - (labels[i] > 0 ? 1 : 0);
    EXPECT_NEAR(error / 80, 0, 1e-6) << "passes are in float32";
  }
}

}  // namespace
}  // namespace sotto
