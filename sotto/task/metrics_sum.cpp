#include "sotto/task/metrics_sum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sotto/model/evaluate.hpp"

namespace sotto {

void MetricsSum::add(const Metrics& block,
                     std::span<const double> outputs,
                     std::span<const float> labels) {
  const auto rows = static_cast<double>(block.rows);
  if (sum_.rows == 0) {
    sum_.classification = block.classification;
    sum_.confusion.assign(block.confusion.size(),
                          std::vector<std::int64_t>(block.confusion.size()));
    regularizer_ = block.objective - block.loss;
  }
  sum_.rows += block.rows;
  sum_.loss += block.loss * rows;
  if (block.log_loss) sum_.log_loss = sum_.log_loss.value_or(0) + *block.log_loss * rows;
  sum_.rmse += block.rmse * block.rmse * rows;
  sum_.mae += block.mae * rows;
  for (std::size_t truth = 0; truth < block.confusion.size(); ++truth)
    for (std::size_t guess = 0; guess < block.confusion.size(); ++guess)
      sum_.confusion[truth][guess] += block.confusion[truth][guess];
  if (sum_.confusion.size() != 2) return;
  if (sum_.rows > kMostRanked) {
    scores_ = {};
    labels_ = {};
    return;
  }
  for (std::size_t i = 0; i < labels.size(); ++i) {
    scores_.push_back(width_ == 1 ? outputs[i] : outputs[2 * i + 1] - outputs[2 * i]);
    labels_.push_back(labels[i]);
  }
}

Metrics MetricsSum::total() const {
  Metrics total = sum_;
  const auto rows = static_cast<double>(std::max<std::int64_t>(1, sum_.rows));
  total.loss = sum_.loss / rows;
  total.objective = total.loss + regularizer_;
  if (sum_.log_loss) total.log_loss = *sum_.log_loss / rows;
  total.rmse = std::sqrt(sum_.rmse / rows);
  total.mae = sum_.mae / rows;
  if (!total.classification) return total;
  total.accuracy = static_cast<double>(total.right()) / rows;
  if (total.confusion.size() == 2)
    total.auc = total.rows > kMostRanked ? std::numeric_limits<double>::quiet_NaN()
                                         : area_under_roc(scores_, labels_);
  return total;
}

}  // namespace sotto
