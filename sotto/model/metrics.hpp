#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sotto {

/// Rows by [truth][prediction], classes in the order of stored labels.
using Confusion = std::vector<std::vector<std::int64_t>>;

/// Rows whose class was predicted.
std::int64_t rows_right(const Confusion& confusion);
/// Rows of this class.
std::int64_t rows_of(const Confusion& confusion, std::size_t c);
/// Rows that this class is predicted for.
std::int64_t rows_as(const Confusion& confusion, std::size_t c);
/// The class that most rows have; the first of several. There must be a class.
std::size_t majority_class(const Confusion& confusion);
/// Classes that some rows have and that are predicted for none.
std::vector<std::size_t> never_predicted(const Confusion& confusion);

/// The log loss of predicting for every row the share of each class among these rows: what a model
/// must do better than. There must be a row.
double log_loss_of_shares(const Confusion& confusion);
/// By more than rounding.
inline bool worse_than_shares(double log_loss, const Confusion& confusion) {
  return log_loss > log_loss_of_shares(confusion) * (1 + 1e-6) + 1e-9;
}

/// How good a model is on *public* rows. Never call it on private ones: nothing here is noised.
struct Metrics {
  std::int64_t rows = 0;
  bool classification = true;
  double loss = 0;       ///< mean loss, as training weighs it
  double objective = 0;  ///< mean loss + regularizer
  /// Mean of -ln of the true class's probability, whatever training weighs; of models that have
  /// probabilities.
  std::optional<double> log_loss;
  double accuracy = 0;
  /// Of two classes: area under the ROC curve, ties counted half; NaN if the rows have one class.
  double auc = 0;
  Confusion confusion;  ///< empty for regression
  double rmse = 0;      ///< regression only
  double mae = 0;       ///< regression only

  std::int64_t right() const { return rows_right(confusion); }
};

}  // namespace sotto
