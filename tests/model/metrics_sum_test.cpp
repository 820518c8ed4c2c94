#include "sotto/task/metrics_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "sotto/model/evaluate.hpp"

namespace sotto {
namespace {

Table rows_of(std::int64_t begin, std::int64_t end, bool classes) {
  std::vector<float> values, labels;
  for (std::int64_t i = begin; i < end; ++i) {
    values.push_back(static_cast<float>(i * 37 % 101) / 50 - 1);
    const auto wave = static_cast<float>(i * 53 % 97) / 97;
    labels.push_back(classes ? (wave + values.back() > 0.5F ? 1.0F : -1.0F) : wave);
  }
  return TableBuilder::dense(end - begin, 1, values, labels, {});
}

// Blocks of any size make what the whole makes.
TEST(MetricsSum, IsThatOfAllRows) {
  const Vector w = Vector::Constant(1, 0.7);
  for (const auto kind : {LossKind::kLogistic, LossKind::kSquared}) {
    LossSpec loss;
    loss.kind = kind;
    const bool classes = kind == LossKind::kLogistic;
    const Metrics whole = evaluate(rows_of(0, 1000, classes), w, loss, 0.25);
    for (const std::int64_t size : {1, 7, 999, 1000}) {
      MetricsSum sum(1);
      for (std::int64_t begin = 0; begin < 1000; begin += size) {
        const Table block = rows_of(begin, std::min<std::int64_t>(1000, begin + size), classes);
        sum.add(evaluate(block, w, loss, 0.25), scores(block, w), block.labels());
      }
      const Metrics total = sum.total();
      EXPECT_EQ(total.rows, 1000);
      EXPECT_EQ(total.confusion, whole.confusion);
      EXPECT_EQ(total.accuracy, whole.accuracy);
      EXPECT_EQ(total.auc, whole.auc);
      EXPECT_NEAR(total.loss, whole.loss, 1e-12);
      EXPECT_NEAR(total.objective, whole.objective, 1e-12);
      EXPECT_NEAR(total.rmse, whole.rmse, 1e-12);
      EXPECT_NEAR(total.mae, whole.mae, 1e-12);
    }
  }
}

}  // namespace
}  // namespace sotto
