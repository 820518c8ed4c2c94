#pragma once

#include <cstdint>
#include <span>

#include "sotto/core/error.hpp"
#include "sotto/data/table.hpp"
#include "sotto/model/model.hpp"

namespace sotto {

/// Probabilities 1 / (1 + e^-(slope · score + intercept · unit)).
struct ScoreFit {
  double slope = 1;
  double intercept = 0;
};

/// The fit of greatest likelihood, which Newton's method finds: of both parameters, or of the
/// intercept alone. At it the mean probability is the share of positive rows, where all units
/// are 1. (Platt's smoothed targets would give that up; they help where the scores separate the
/// classes, which is refused here.) `units` are positive. kBadData if there is no best fit: all
/// rows of one class, scores that are all equal or separate the classes, or a slope that is not
/// positive.
Expected<ScoreFit> fit_scores(std::span<const double> scores,
                              std::span<const float> labels,
                              std::span<const double> units,
                              Recalibration::Method method);

/// kUsage if the model has no probabilities of two classes, or no intercept to change.
Expected<void> check_recalibration(const Model& model);

/// Public rows in which the model's intercept is not 1, because they are longer than ‘row_norm’.
std::int64_t rescaled_rows(const Model& model, const Table& rows);

/// Puts a fit on *public* rows into the model's weights: it stays an ordinary model, whose privacy
/// statement holds as before. `scores`: of these rows (two_class_scores). A certificate is taken
/// away: it was one of other weights.
///
/// A linear model's intercept is a feature like others: it is 1, and less in a row that is longer
/// than ‘row_norm’. That is the unit of the fit, so that the result is exactly what the model then
/// predicts. Errors: those of check_recalibration() and fit_scores().
Expected<void> recalibrate(Model& model,
                           std::span<const double> scores,
                           const Table& rows,
                           Recalibration::Method method);

}  // namespace sotto
