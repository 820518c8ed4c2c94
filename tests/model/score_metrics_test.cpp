// Metrics of scores against their definitions, computed the slow way.

#include "sotto/model/score_metrics.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <string>

#include "sotto/model/evaluate.hpp"

namespace sotto {
namespace {

struct ScoredSample {
  std::vector<double> scores;
  std::vector<float> labels;
};

/// Few distinct scores, so that many are equal.
ScoredSample sample(unsigned seed, std::size_t rows, int distinct) {
  std::mt19937 generator(seed);
  ScoredSample result;
  for (std::size_t i = 0; i < rows; ++i) {
    const double score = static_cast<int>(generator() % static_cast<unsigned>(distinct)) / 3.0 - 2;
    result.scores.push_back(score);
    result.labels.push_back(static_cast<int>(generator() % 100) < 20 + 10 * (score + 2) ? 1 : -1);
  }
  return result;
}

double pairs_won(const ScoredSample& s) {
  double won = 0;
  double pairs = 0;
  for (std::size_t i = 0; i < s.scores.size(); ++i)
    for (std::size_t j = 0; j < s.scores.size(); ++j)
      if (s.labels[i] > 0 && s.labels[j] <= 0) {
        won += s.scores[i] > s.scores[j] ? 1 : s.scores[i] == s.scores[j] ? 0.5 : 0;
        ++pairs;
      }
  return won / pairs;
}

TwoClassScores::Cut flag_from(const ScoredSample& s, double threshold) {
  TwoClassScores::Cut cut{threshold, 0, 0};
  for (std::size_t i = 0; i < s.scores.size(); ++i)
    if (s.scores[i] >= threshold) {
      ++cut.flagged;
      if (s.labels[i] > 0) ++cut.right;
    }
  return cut;
}

/// The sum over thresholds of precision times the recall that is gained.
double average_precision(const ScoredSample& s) {
  const std::set<double, std::greater<>> thresholds(s.scores.begin(), s.scores.end());
  double positives = 0;
  for (const float label : s.labels) positives += label > 0 ? 1 : 0;
  double area = 0;
  double before = 0;
  for (const double threshold : thresholds) {
    const auto cut = flag_from(s, threshold);
    const double recall = static_cast<double>(cut.right) / positives;
    area += (recall - before) * static_cast<double>(cut.right) / static_cast<double>(cut.flagged);
    before = recall;
  }
  return area;
}

TEST(ScoreMetrics, AgainstTheirDefinitions) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const ScoredSample s = sample(seed, 40 + 7 * seed, static_cast<int>(2 + seed));
    const TwoClassScores result = measure_scores(s.scores, s.labels, true);
    ASSERT_TRUE(result.auc && result.average_precision && result.probabilities);
    EXPECT_NEAR(*result.auc, pairs_won(s), 1e-12);
    EXPECT_NEAR(*result.auc, area_under_roc(s.scores, s.labels), 1e-12);
    EXPECT_NEAR(*result.average_precision, average_precision(s), 1e-12);
    double brier = 0, loss = 0, mean = 0, own = 0;
    const auto n = static_cast<double>(s.scores.size());
    for (std::size_t i = 0; i < s.scores.size(); ++i) {
      const double p = 1 / (1 + std::exp(-s.scores[i]));
      const double y = s.labels[i] > 0 ? 1 : 0;
      brier += (p - y) * (p - y) / n;
      loss -= std::log(y > 0 ? p : 1 - p) / n;
      mean += p / n;
      own += s.scores[i] > 0 ? 1 : 0;
    }
    EXPECT_NEAR(result.probabilities->brier, brier, 1e-12);
    EXPECT_NEAR(result.probabilities->log_loss, loss, 1e-12);
    EXPECT_NEAR(result.probabilities->mean, mean, 1e-12);
    EXPECT_EQ(static_cast<double>(result.own.flagged), own);
  }
}

TEST(ScoreMetrics, EveryCutFlagsAllRowsOfItsScore) {
  const ScoredSample s = sample(3, 200, 9);
  const TwoClassScores result = measure_scores(s.scores, s.labels, false);
  EXPECT_FALSE(result.probabilities);
  EXPECT_EQ(result.cuts.size(), 9u);
  for (const auto& cut : result.cuts) {
    const auto expected = flag_from(s, cut.threshold);
    EXPECT_EQ(cut.flagged, expected.flagged);
    EXPECT_EQ(cut.right, expected.right);
  }
  for (const int percent : kFlaggedPercents) {
    const auto& cut = result.at_percent(percent);
    EXPECT_GE(100 * cut.flagged, percent * result.rows);
    for (const auto& other : result.cuts)
      if (other.threshold > cut.threshold) {
        EXPECT_LT(100 * other.flagged, percent * result.rows) << "a higher one would do";
      }
  }
}

/// The other way to a probability of two classes: softmax of both scores.
double softmax_of(double score) {
  const double largest = std::max(0.0, score);
  return std::exp(score - largest) / (std::exp(-largest) + std::exp(score - largest));
}

TEST(ScoreMetrics, AThresholdThatIsToldFlagsTheRowsThatItIsToldOf) {
  std::mt19937_64 generator(11);
  std::normal_distribution<double> normal;
  for (const double scale : {1e-9, 0.01, 1.0, 30.0, 1000.0})
    for (const bool log_odds : {true, false}) {
      ScoredSample s;
      for (int i = 0; i < 400; ++i) {
        s.scores.push_back(scale * normal(generator));
        s.labels.push_back(normal(generator) > 0 ? 1 : -1);
      }
      const TwoClassScores result = measure_scores(s.scores, s.labels, log_odds);
      EXPECT_EQ(result.cuts.back().flagged, 400);
      for (const auto& cut : result.cuts) {
        const double typed = std::stod(fmt::format("{}", cut.told));
        for (const auto& shown : {+[](double score) { return 1 / (1 + std::exp(-score)); },
                                  +[](double score) { return softmax_of(score); }}) {
          const auto flagged = std::count_if(s.scores.begin(), s.scores.end(), [&](double score) {
            return (log_odds ? shown(score) : score) >= typed;
          });
          EXPECT_EQ(flagged, cut.flagged) << "scale " << scale << ", threshold " << typed;
        }
      }
      if (scale == 1) {
        EXPECT_EQ(result.cuts.size(), 400u) << "each of these can be told";
        std::size_t longest = 0;
        for (const int percent : kFlaggedPercents)
          longest = std::max(longest, fmt::format("{}", result.at_percent(percent).told).size());
        EXPECT_LE(longest, 9u) << "few digits";
      }
    }
  // A probability of 1 is that of all scores above 37: one line, the last.
  const TwoClassScores saturated = measure_scores(
      std::vector<double>{90, 80, 70, 1, 0}, std::vector<float>{1, 1, -1, 1, -1}, true);
  ASSERT_EQ(saturated.cuts.size(), 3u);
  EXPECT_EQ(saturated.cuts[0].flagged, 3);
  EXPECT_LT(saturated.cuts[0].told, 1);
  EXPECT_EQ(saturated.auc, 5.0 / 6) << "the order of scores still counts";
}

TEST(ScoreMetrics, TenGroupsOfEqualSizeAndEqualScoresTogether) {
  ScoredSample s;
  for (int i = 0; i < 57; ++i) {
    s.scores.push_back(0.1 * ((i * 23) % 57) - 3);
    s.labels.push_back(i % 3 == 0 ? 1 : -1);
  }
  const auto groups = measure_scores(s.scores, s.labels, true).probabilities->groups;
  ASSERT_EQ(groups.size(), 10u);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    EXPECT_TRUE(groups[g].rows == 5 || groups[g].rows == 6);
    if (g > 0) {
      EXPECT_GT(groups[g].predicted, groups[g - 1].predicted);
    }
  }
  const ScoredSample ties = sample(5, 300, 4);
  std::int64_t rows = 0, positives = 0;
  double sum = 0;
  const TwoClassScores result = measure_scores(ties.scores, ties.labels, true);
  EXPECT_EQ(result.probabilities->groups.size(), 4u);
  for (const auto& group : result.probabilities->groups) {
    rows += group.rows;
    positives += group.positives;
    sum += group.predicted * static_cast<double>(group.rows);
  }
  EXPECT_EQ(rows, 300);
  EXPECT_EQ(positives, result.positives);
  EXPECT_NEAR(sum / 300, result.probabilities->mean, 1e-12);
}

TEST(ScoreMetrics, NothingIsNotANumber) {
  const auto all_equal =
      measure_scores(std::vector<double>(6, 0.5), std::vector<float>{1, -1, -1, 1, -1, -1}, true);
  EXPECT_DOUBLE_EQ(*all_equal.auc, 0.5);
  EXPECT_DOUBLE_EQ(*all_equal.average_precision, 2.0 / 6);
  EXPECT_EQ(all_equal.probabilities->groups.size(), 1u);
  EXPECT_EQ(all_equal.at_percent(1).flagged, 6);

  const auto positive = measure_scores(std::vector<double>{2}, std::vector<float>{1}, true);
  EXPECT_FALSE(positive.auc);
  EXPECT_DOUBLE_EQ(*positive.average_precision, 1);
  const auto negative = measure_scores(std::vector<double>{-2}, std::vector<float>{-1}, true);
  EXPECT_FALSE(negative.auc);
  EXPECT_FALSE(negative.average_precision);
  EXPECT_FALSE(negative.recall(negative.cuts[0]));
  EXPECT_FALSE(negative.precision(negative.own)) << "nothing is flagged";

  // Probabilities that are 0 and 1 as numbers.
  const auto sure = measure_scores(
      std::vector<double>{800, -800, -800, 800}, std::vector<float>{1, -1, 1, -1}, true);
  EXPECT_DOUBLE_EQ(sure.probabilities->log_loss, 400);
  EXPECT_DOUBLE_EQ(sure.probabilities->brier, 0.5);
}

TEST(ScoreMetrics, IntervalsOfShares) {
  // By hand: (p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)
  EXPECT_NEAR(share_interval(5, 10).first, 0.236593, 1e-6);
  EXPECT_NEAR(share_interval(5, 10).second, 0.763407, 1e-6);
  EXPECT_EQ(share_interval(0, 10).first, 0);
  EXPECT_NEAR(share_interval(0, 10).second, 0.277533, 1e-6);
  EXPECT_NEAR(share_interval(1, 1).first, 1 / (1 + 1.959964 * 1.959964), 1e-6);
  EXPECT_EQ(share_interval(1, 1).second, 1);
}

TEST(ScoreMetrics, SoftmaxOfTwoClassesIsLogistic) {
  const ScoredSample s = sample(8, 90, 12);
  std::vector<double> outputs;
  std::vector<float> labels;
  for (std::size_t i = 0; i < s.scores.size(); ++i) {
    outputs.insert(outputs.end(), {700.0, 700 + s.scores[i]});
    labels.push_back(s.labels[i] > 0 ? 1 : 0);
  }
  const TwoClassScores two = measure_scores(s.scores, s.labels, true);
  const ManyClassScores many = measure_softmax(outputs, labels, 2);
  EXPECT_NEAR(many.log_loss, two.probabilities->log_loss, 1e-12);
  EXPECT_NEAR(many.brier, 2 * two.probabilities->brier, 1e-12);
  EXPECT_NEAR(*many.auc[1], *two.auc, 1e-12);
  EXPECT_NEAR(*many.auc[0], *two.auc, 1e-12);
  EXPECT_FALSE(measure_softmax(outputs, std::vector<float>(90, 1), 2).auc[0]);
}

TEST(ScoreMetrics, Numbers) {
  const auto errors = measure_numbers(std::vector<double>{1, 2, 6}, std::vector<float>{0, 2, 4});
  EXPECT_DOUBLE_EQ(errors.mae, 1);
  EXPECT_DOUBLE_EQ(errors.bias, 1);
  EXPECT_DOUBLE_EQ(errors.rmse, std::sqrt(5.0 / 3));
  EXPECT_DOUBLE_EQ(*errors.r_squared, 1 - 5.0 / 8);
  EXPECT_FALSE(measure_numbers(std::vector<double>{1}, std::vector<float>{3}).r_squared);
}

TEST(ScoreMetrics, WhatIsNeverPredicted) {
  const Confusion confusion = {{6, 0, 1}, {3, 0, 0}, {0, 0, 0}};
  EXPECT_EQ(rows_right(confusion), 6);
  EXPECT_EQ(rows_of(confusion, 0), 7);
  EXPECT_EQ(rows_as(confusion, 2), 1);
  EXPECT_EQ(majority_class(confusion), 0u);
  EXPECT_EQ(never_predicted(confusion), std::vector<std::size_t>{1});
}

TEST(ScoreMetrics, Counts) {
  const std::vector<double> rates = {1, 2, 4};
  const std::vector<float> counts = {0, 2, 5};
  const auto errors = measure_counts(rates, counts);
  const double deviance = (2 * 1.0 + 0 + 2 * (5 * std::log(5.0 / 4) - 1)) / 3;
  EXPECT_NEAR(errors.deviance, deviance, 1e-14);
  const double mean = 7.0 / 3;
  const double of_mean = 2 * (0 + 2 * std::log(2 / mean) + 5 * std::log(5 / mean)) / 3;
  EXPECT_NEAR(*errors.explained, 1 - deviance / of_mean, 1e-14);
  EXPECT_FALSE(measure_counts(std::vector<double>{1}, std::vector<float>{3}).explained);
}

}  // namespace
}  // namespace sotto
