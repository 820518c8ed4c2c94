#pragma once

#include "sotto/model/score_metrics.hpp"
#include "sotto/task/family.hpp"

namespace sotto {

/// One number per row that orders the rows of a model with two classes: the score, or for softmax
/// the difference of the second's and the first's. Log odds, where the model has probabilities.
/// kUsage: the model predicts numbers, or has more classes.
Expected<std::vector<double>> two_class_scores(const Model& model,
                                               const Family& family,
                                               const Table& rows);

/// On *public* rows with labels, at least one. `family`: of this model. kBadData if there are no
/// rows, or if the model's output for one is not finite.
Expected<Evaluation> evaluate_rows(const Model& model, const Family& family, const Table& rows);

}  // namespace sotto
