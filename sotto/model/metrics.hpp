#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "sotto/core/vector.hpp"
#include "sotto/data/table.hpp"
#include "sotto/geometry/loss_info.hpp"
#include "sotto/geometry/regularizer.hpp"

namespace sotto {

/// <w, x_i> for every row, in order.
std::vector<double> scores(const Table& table, const Vector& w);

/// What a model predicts from a score: the score, or its square for phase retrieval.
inline double prediction(const LossSpec& loss, double score) {
  return loss.kind == LossKind::kPhaseRetrieval ? score * score : score;
}

/// How good a model is on *public* rows. Never call it on private ones: nothing here is noised.
struct Metrics {
  std::int64_t rows = 0;
  bool classification = true;
  double loss = 0;       ///< mean loss
  double objective = 0;  ///< mean loss + regularizer
  double accuracy = 0;
  double auc = 0;  ///< area under the ROC curve, ties counted half; NaN with one class only
  /// confusion[truth][prediction], 0 for label -1, 1 for +1
  std::array<std::array<std::int64_t, 2>, 2> confusion{};
  double rmse = 0;  ///< regression only
  double mae = 0;   ///< regression only
};

Metrics evaluate(const Table& table,
                 const Vector& w,
                 const LossSpec& loss,
                 double regularizer_value);

/// Area under the ROC curve of scores against labels -1 / +1.
double area_under_roc(std::span<const double> scores, std::span<const float> labels);

nlohmann::json to_json(const Metrics& metrics);

}  // namespace sotto
