#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sotto/model/metrics.hpp"

namespace sotto {

// What scores are worth on *public* rows. Exact numbers: never compute them on private ones.

/// The ends of an interval that holds the true share with 95 % confidence (Wilson's), of `hits` in
/// `rows` > 0 rows.
std::pair<double, double> share_interval(std::int64_t hits, std::int64_t rows);

/// How well scores tell two classes apart, and whether their probabilities can be believed. A row
/// is positive if it is of the second class.
struct TwoClassScores {
  /// The rows with a score of at least `threshold` are flagged; equal scores always together.
  struct Cut {
    double threshold = 0;
    /// The same threshold to be shown and typed: a probability where scores are log odds, of few
    /// digits, below the flagged rows' and above all others'.
    double told = 0;
    std::int64_t flagged = 0;
    std::int64_t right = 0;  ///< flagged rows that are positive
  };
  /// Rows of similar probabilities.
  struct Group {
    std::int64_t rows = 0;
    std::int64_t positives = 0;
    double predicted = 0;  ///< the mean
    double observed() const { return static_cast<double>(positives) / static_cast<double>(rows); }
  };
  struct Probabilities {
    double brier = 0;     ///< mean of (p - y)², y = 0 or 1
    double log_loss = 0;  ///< mean of -ln of the true class's probability
    double mean = 0;      ///< predicted
    /// From the lowest probability to the highest: ten of equal size, as far as equal scores, which
    /// stay together, allow.
    std::vector<Group> groups;
  };

  std::int64_t rows = 0;
  std::int64_t positives = 0;
  /// One for each score that a threshold tells from the others, from the highest. Log odds that
  /// differ may be one probability.
  std::vector<Cut> cuts;
  Cut own;  ///< what the model itself predicts as positive: scores above 0
  /// Of all pairs of a positive and a negative row, the share with the higher score at the positive
  /// one; ties count half. None if all rows are of one class.
  std::optional<double> auc;
  /// Area under the steps of precision over recall: the sum over cuts of the precision times what
  /// the recall gains. None without a positive row.
  std::optional<double> average_precision;
  std::optional<Probabilities> probabilities;  ///< only if scores are log odds

  double share() const { return static_cast<double>(positives) / static_cast<double>(rows); }
  /// None if nothing is flagged.
  std::optional<double> precision(const Cut& cut) const;
  /// None without a positive row.
  std::optional<double> recall(const Cut& cut) const;
  /// The highest threshold that flags at least this share.
  const Cut& at_percent(int percent) const;
};

/// For which shares of the rows thresholds are shown, in percent.
inline constexpr int kFlaggedPercents[] = {1, 2, 5, 10, 20, 50};

/// Of at least one row, with finite scores; labels above 0 are positive. `log_odds`: probabilities
/// are 1 / (1 + e^-score).
TwoClassScores measure_scores(std::span<const double> scores,
                              std::span<const float> labels,
                              bool log_odds);

/// The same for more classes.
struct ManyClassScores {
  double brier = 0;  ///< mean over rows of the sum over classes of (p - y)²: from 0 to 2
  double log_loss = 0;
  std::vector<std::optional<double>> auc;  ///< of each class against all others, by probability
};

/// Of at least one row, with finite `outputs`, one after the other: `classes` of each row, whose
/// softmax are the probabilities. Labels are 0, 1, …
ManyClassScores measure_softmax(std::span<const double> outputs,
                                std::span<const float> labels,
                                std::size_t classes);

struct NumberErrors {
  double rmse = 0;
  double mae = 0;
  double bias = 0;                  ///< mean of prediction - label
  std::optional<double> r_squared;  ///< none if all labels are equal
};

/// Of at least one row.
NumberErrors measure_numbers(std::span<const double> predicted, std::span<const float> labels);

/// What predicted rates of counts are worth.
struct CountErrors {
  double deviance = 0;  ///< mean over rows of 2 (y ln(y / rate) - (y - rate)), the Poisson deviance
  /// The share of it that the model takes away from predicting the mean count for every row; none
  /// if all labels are equal.
  std::optional<double> explained;
};

/// Of at least one row; rates above 0. Labels below 0 count as 0.
CountErrors measure_counts(std::span<const double> rates, std::span<const float> labels);

/// All that is said of a model on public rows: of a classifier the confusion and one of the first
/// two, of regression the others.
struct Evaluation {
  std::int64_t rows = 0;
  std::vector<std::string> class_names;  ///< with all their spellings: `NO or >30`
  Confusion confusion;
  std::optional<TwoClassScores> two;
  std::optional<ManyClassScores> many;
  std::optional<NumberErrors> numbers;
  std::optional<CountErrors> counts;  ///< beside `numbers`, of a Poisson loss
  std::string loss;                   ///< of the model: `logistic`, `softmax`
};

/// None for models without probabilities.
inline std::optional<double> log_loss_of(const Evaluation& e) {
  if (e.many) return e.many->log_loss;
  if (e.two && e.two->probabilities) return e.two->probabilities->log_loss;
  return std::nullopt;
}

}  // namespace sotto
