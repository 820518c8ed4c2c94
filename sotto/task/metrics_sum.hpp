#pragma once

#include <span>
#include <vector>

#include "sotto/model/metrics.hpp"

namespace sotto {

/// The metrics of many blocks of rows, from those of each.
class MetricsSum {
 public:
  /// Of more rows no AUC is told: it needs all scores at once.
  static constexpr std::int64_t kMostRanked = std::int64_t{1} << 23;

  /// `width`: outputs per row.
  explicit MetricsSum(std::int64_t width) : width_(static_cast<std::size_t>(width)) {}
  void add(const Metrics& block, std::span<const double> outputs, std::span<const float> labels);
  Metrics total() const;

 private:
  std::size_t width_;
  Metrics sum_;  ///< means times rows
  double regularizer_ = 0;
  std::vector<double> scores_;
  std::vector<float> labels_;
};

}  // namespace sotto
