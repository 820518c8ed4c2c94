#pragma once

#include <cstdint>
#include <vector>

namespace sotto {

/// How good a model is on *public* rows. Never call it on private ones: nothing here is noised.
struct Metrics {
  std::int64_t rows = 0;
  bool classification = true;
  double loss = 0;       ///< mean loss
  double objective = 0;  ///< mean loss + regularizer
  double accuracy = 0;
  /// Of two classes: area under the ROC curve, ties counted half; NaN if the rows have one class.
  double auc = 0;
  /// confusion[truth][prediction], classes in the order of stored labels; empty for regression
  std::vector<std::vector<std::int64_t>> confusion;
  double rmse = 0;  ///< regression only
  double mae = 0;   ///< regression only

  /// Rows whose class was predicted.
  std::int64_t right() const;
};

}  // namespace sotto
