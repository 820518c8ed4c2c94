#include "sotto/model/score_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "sotto/core/check.hpp"

namespace sotto {
namespace {

using Cut = TwoClassScores::Cut;
using Group = TwoClassScores::Group;

double probability(double score) { return 1 / (1 + std::exp(-score)); }

/// ln(1 + e^-margin), also where e^-margin is too large for a number.
double logistic_loss(double margin) {
  return std::max(0.0, -margin) + std::log1p(std::exp(-std::abs(margin)));
}

std::vector<Cut> cuts_of(std::span<const double> scores, std::span<const float> labels) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return scores[a] > scores[b]; });
  std::vector<Cut> cuts;
  for (const std::size_t i : order) {
    if (cuts.empty() || cuts.back().threshold != scores[i]) {
      cuts.push_back(cuts.empty() ? Cut{} : cuts.back());
      cuts.back().threshold = scores[i];
    }
    ++cuts.back().flagged;
    if (labels[i] > 0) ++cuts.back().right;
  }
  return cuts;
}

/// Calls body(threshold, rows, positives) for the rows of each distinct score, from the highest.
template <class Body>
void for_each_score(const std::vector<Cut>& cuts, const Body& body) {
  Cut before;
  for (const Cut& cut : cuts) {
    body(cut,
         static_cast<double>(cut.flagged - before.flagged),
         static_cast<double>(cut.right - before.right));
    before = cut;
  }
}

std::vector<Group> groups_of(const std::vector<Cut>& cuts, std::int64_t rows) {
  constexpr std::int64_t kGroups = 10;
  std::vector<Group> groups;
  Group group;
  std::int64_t seen = 0;
  std::int64_t next = 1;  // the tenth of the rows at which the group ends
  for (std::size_t k = cuts.size(); k-- > 0;) {
    const Cut above = k > 0 ? cuts[k - 1] : Cut{};
    const std::int64_t here = cuts[k].flagged - above.flagged;
    group.rows += here;
    group.positives += cuts[k].right - above.right;
    group.predicted += static_cast<double>(here) * probability(cuts[k].threshold);
    seen += here;
    if (kGroups * seen < next * rows) continue;
    group.predicted /= static_cast<double>(group.rows);
    groups.push_back(std::exchange(group, {}));
    next = kGroups * seen / rows + 1;
  }
  return groups;
}

/// Of two probabilities that differ by less, computed in two ways, either may be the larger.
constexpr double kSameProbability = 1e-15;

/// A number below `value`, and above `next` if there is one, with as few digits as that allows, but
/// four; `value` itself where no number is between them.
double short_number_below(double value, std::optional<double> next) {
  for (int digits = 4; digits <= std::numeric_limits<double>::max_digits10; ++digits) {
    const auto rounded = [&](double x) {
      const std::string text = fmt::format("{:.{}e}", x, digits - 1);
      double result = x;
      std::from_chars(text.data(), text.data() + text.size(), result);
      return result;
    };
    double below = rounded(value);
    if (below >= value) below = rounded(below - std::abs(value) * std::pow(10.0, 1 - digits));
    if (below < value && (!next || below > *next)) return below;
  }
  return value;
}

/// Says of each cut what threshold to type; of those that no probability tells apart the last is
/// kept.
void tell_thresholds(std::vector<Cut>& cuts, bool log_odds) {
  std::vector<Cut> told;
  for (Cut& cut : cuts) {
    cut.told = log_odds ? probability(cut.threshold) : cut.threshold;
    if (log_odds && !told.empty() && cut.told >= told.back().told * (1 - kSameProbability))
      told.pop_back();
    told.push_back(cut);
  }
  for (std::size_t k = 0; k < told.size(); ++k) {
    const bool last = k + 1 == told.size();
    if (last && log_odds && told[k].told < std::numeric_limits<double>::min()) continue;
    told[k].told =
        short_number_below(told[k].told, last ? std::nullopt : std::optional(told[k + 1].told));
  }
  cuts = std::move(told);
}

}  // namespace

std::pair<double, double> share_interval(std::int64_t hits, std::int64_t rows) {
  SOTTO_CHECK(rows > 0 && hits >= 0 && hits <= rows);
  constexpr double kQuantile = 1.959963984540054;  // of the normal distribution at 97.5 %
  const auto n = static_cast<double>(rows);
  const double share = static_cast<double>(hits) / n;
  const double square = kQuantile * kQuantile;
  const double middle = (share + square / (2 * n)) / (1 + square / n);
  const double half =
      kQuantile * std::sqrt(share * (1 - share) / n + square / (4 * n * n)) / (1 + square / n);
  return {hits == 0 ? 0 : middle - half, hits == rows ? 1 : middle + half};
}

std::optional<double> TwoClassScores::precision(const Cut& cut) const {
  if (cut.flagged == 0) return std::nullopt;
  return static_cast<double>(cut.right) / static_cast<double>(cut.flagged);
}

std::optional<double> TwoClassScores::recall(const Cut& cut) const {
  if (positives == 0) return std::nullopt;
  return static_cast<double>(cut.right) / static_cast<double>(positives);
}

const Cut& TwoClassScores::at_percent(int percent) const {
  return *std::find_if(cuts.begin(), cuts.end() - 1, [&](const Cut& cut) {
    return 100 * cut.flagged >= percent * rows;
  });
}

TwoClassScores measure_scores(std::span<const double> scores,
                              std::span<const float> labels,
                              bool log_odds) {
  SOTTO_CHECK(!scores.empty() && scores.size() == labels.size());
  TwoClassScores result;
  result.cuts = cuts_of(scores, labels);
  result.rows = result.cuts.back().flagged;
  result.positives = result.cuts.back().right;
  for (const Cut& cut : result.cuts)
    if (cut.threshold > 0) result.own = cut;
  result.own.threshold = 0;

  const auto positives = static_cast<double>(result.positives);
  const double negatives = static_cast<double>(result.rows) - positives;
  double wins = 0;
  double area = 0;
  double below = negatives;  // of rows with lower scores
  for_each_score(result.cuts, [&](const Cut& cut, double here, double positive) {
    below -= here - positive;
    wins += positive * (below + (here - positive) / 2);
    area += positive * *result.precision(cut);
  });
  if (positives > 0 && negatives > 0) result.auc = wins / (positives * negatives);
  if (positives > 0) result.average_precision = area / positives;
  if (!log_odds) {
    tell_thresholds(result.cuts, false);
    return result;
  }

  TwoClassScores::Probabilities probabilities;
  for_each_score(result.cuts, [&](const Cut& cut, double here, double positive) {
    const double p = probability(cut.threshold);
    probabilities.mean += here * p;
    probabilities.brier += positive * (1 - p) * (1 - p) + (here - positive) * p * p;
    probabilities.log_loss +=
        positive * logistic_loss(cut.threshold) + (here - positive) * logistic_loss(-cut.threshold);
  });
  for (double* sum : {&probabilities.mean, &probabilities.brier, &probabilities.log_loss})
    *sum /= static_cast<double>(result.rows);
  probabilities.groups = groups_of(result.cuts, result.rows);
  tell_thresholds(result.cuts, true);
  result.own.told = 0.5;
  result.probabilities = std::move(probabilities);
  return result;
}

ManyClassScores measure_softmax(std::span<const double> outputs,
                                std::span<const float> labels,
                                std::size_t classes) {
  SOTTO_CHECK(!labels.empty() && outputs.size() == labels.size() * classes);
  ManyClassScores result;
  std::vector<std::vector<double>> shares(classes, std::vector<double>(labels.size()));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto z = outputs.subspan(i * classes, classes);
    const double largest = *std::max_element(z.begin(), z.end());
    double sum = 0;
    for (const double each : z) sum += std::exp(each - largest);
    const auto truth = static_cast<std::size_t>(labels[i]);
    result.log_loss += largest - z[truth] + std::log(sum);
    for (std::size_t c = 0; c < classes; ++c) {
      shares[c][i] = std::exp(z[c] - largest) / sum;
      const double error = shares[c][i] - (c == truth ? 1 : 0);
      result.brier += error * error;
    }
  }
  result.log_loss /= static_cast<double>(labels.size());
  result.brier /= static_cast<double>(labels.size());
  std::vector<float> is_it(labels.size());
  for (std::size_t c = 0; c < classes; ++c) {
    for (std::size_t i = 0; i < labels.size(); ++i)
      is_it[i] = static_cast<std::size_t>(labels[i]) == c ? 1 : -1;
    result.auc.push_back(measure_scores(shares[c], is_it, false).auc);
  }
  return result;
}

NumberErrors measure_numbers(std::span<const double> predicted, std::span<const float> labels) {
  SOTTO_CHECK(!labels.empty() && predicted.size() == labels.size());
  const auto n = static_cast<double>(labels.size());
  const double mean = std::accumulate(labels.begin(), labels.end(), 0.0) / n;
  NumberErrors result;
  double squares = 0;
  double spread = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const double error = predicted[i] - labels[i];
    squares += error * error;
    result.mae += std::abs(error) / n;
    result.bias += error / n;
    spread += (labels[i] - mean) * (labels[i] - mean);
  }
  result.rmse = std::sqrt(squares / n);
  const auto [least, most] = std::minmax_element(labels.begin(), labels.end());
  if (*least != *most) result.r_squared = 1 - squares / spread;
  return result;
}

namespace {

/// Twice the log likelihood that a count lacks at this rate; 0 at its own.
double deviance_of(double rate, double count) {
  const double y = std::max(0.0, count);
  return 2 * ((y > 0 ? y * std::log(y / rate) : 0) - (y - rate));
}

}  // namespace

CountErrors measure_counts(std::span<const double> rates, std::span<const float> labels) {
  SOTTO_CHECK(!labels.empty() && rates.size() == labels.size());
  const auto n = static_cast<double>(labels.size());
  double mean = 0;
  for (const float label : labels) mean += std::max(0.0, static_cast<double>(label)) / n;
  CountErrors result;
  double of_mean = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    result.deviance += deviance_of(rates[i], labels[i]) / n;
    if (mean > 0) of_mean += deviance_of(mean, labels[i]) / n;
  }
  if (of_mean > 0) result.explained = 1 - result.deviance / of_mean;
  return result;
}

}  // namespace sotto
