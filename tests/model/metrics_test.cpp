#include <gtest/gtest.h>

#include <cmath>

#include "sotto/model/evaluate.hpp"

namespace sotto {
namespace {

TEST(Metrics, AucAgainstAllPairs) {
  const std::vector<double> scores = {0.1, 0.4, 0.35, 0.8, 0.4, 0.4, -1};
  const std::vector<float> labels = {-1, -1, 1, 1, 1, -1, 1};
  double wins = 0;
  double pairs = 0;
  for (std::size_t i = 0; i < scores.size(); ++i)
    for (std::size_t j = 0; j < scores.size(); ++j)
      if (labels[i] > 0 && labels[j] < 0) {
        wins += scores[i] > scores[j] ? 1 : scores[i] == scores[j] ? 0.5 : 0;
        ++pairs;
      }
  EXPECT_DOUBLE_EQ(area_under_roc(scores, labels), wins / pairs);
  EXPECT_TRUE(std::isnan(area_under_roc(scores, std::vector<float>(7, 1))));
}

TEST(Metrics, ConfusionLossAndObjective) {
  const std::vector<float> rows = {1, 0, 0, 1, -1, 0, 0, -1};
  const Table table = TableBuilder::dense(4, 2, rows, {1, -1, 1, -1}, {});
  const Vector w = Eigen::Vector2d(2, 1);  // scores 2, 1, -2, -1
  const Metrics metrics = evaluate(table, w, {LossKind::kLogistic}, 0.25);
  EXPECT_EQ(metrics.confusion[1][1], 1);
  EXPECT_EQ(metrics.confusion[0][1], 1);
  EXPECT_EQ(metrics.confusion[1][0], 1);
  EXPECT_EQ(metrics.confusion[0][0], 1);
  EXPECT_DOUBLE_EQ(metrics.accuracy, 0.5);
  const double loss = (std::log1p(std::exp(-2)) + std::log1p(std::exp(1)) +
                       std::log1p(std::exp(2)) + std::log1p(std::exp(-1))) /
                      4;
  EXPECT_NEAR(metrics.loss, loss, 1e-14);
  EXPECT_NEAR(metrics.objective, loss + 0.25, 1e-14);
}

TEST(Metrics, Regression) {
  const Table table = TableBuilder::dense(2, 1, std::vector<float>{1, 2}, {0, 5}, {});
  const Metrics metrics = evaluate(table, Vector::Constant(1, 1.0), {LossKind::kSquared}, 0);
  EXPECT_DOUBLE_EQ(metrics.rmse, std::sqrt((1.0 + 9) / 2));
  EXPECT_DOUBLE_EQ(metrics.mae, 2);
}

TEST(Metrics, PhaseRetrievalPredictsSquares) {
  const Table table = TableBuilder::dense(2, 1, std::vector<float>{1, 2}, {1, 5}, {});
  const LossSpec loss{LossKind::kPhaseRetrieval, 9};
  const Metrics metrics = evaluate(table, Vector::Constant(1, -1.0), loss, 0);
  EXPECT_DOUBLE_EQ(metrics.mae, 0.5);  // 1 and 4 against 1 and 5
  EXPECT_DOUBLE_EQ(metrics.loss, 0.125);
}

}  // namespace
}  // namespace sotto
