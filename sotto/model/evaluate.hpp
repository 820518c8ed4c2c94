#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/vector.hpp"
#include "sotto/data/table.hpp"
#include "sotto/loss/loss_info.hpp"
#include "sotto/model/metrics.hpp"
#include "sotto/objective/network/spec.hpp"

namespace sotto {

/// <w, x_i> for every row, in order.
std::vector<double> scores(const Table& table, const Vector& w);

/// What a linear model predicts from a score: the score, its square for phase retrieval, or the
/// rate for counts.
inline double prediction(const LossSpec& loss, double score) {
  if (loss.kind == LossKind::kPhaseRetrieval) return score * score;
  if (loss.kind == LossKind::kPoisson) return std::min(std::exp(score), loss.threshold);
  return score;
}

/// A network's outputs for every row, one after the other: as many per row as the network has.
/// `w`: the parameters of all layers.
Expected<std::vector<double>> network_outputs(const Table& table,
                                              const NetworkSpec& spec,
                                              const Vector& w);

/// The class that a network's outputs stand for: the largest, or for a logistic network whether it
/// is positive.
std::int64_t predicted_class(const NetworkSpec& spec, std::span<const double> outputs);

/// Of a linear model.
Metrics evaluate(const Table& table,
                 const Vector& w,
                 const LossSpec& loss,
                 double regularizer_value);
/// With its scores(), which need not be computed again.
Metrics evaluate(const Table& table,
                 const Vector& w,
                 const LossSpec& loss,
                 double regularizer_value,
                 std::span<const double> scores);

/// Of a network; `w`: the parameters of all layers, `outputs`: its network_outputs().
Expected<Metrics> evaluate_network(const Table& table,
                                   const NetworkSpec& spec,
                                   const Vector& w,
                                   double regularizer_value,
                                   std::span<const double> outputs);
Expected<Metrics> evaluate_network(const Table& table,
                                   const NetworkSpec& spec,
                                   const Vector& w,
                                   double regularizer_value);

/// Area under the ROC curve of scores; labels above 0 are positive.
double area_under_roc(std::span<const double> scores, std::span<const float> labels);

}  // namespace sotto
