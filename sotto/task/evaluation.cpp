#include "sotto/task/evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/model/coefficients.hpp"
#include "sotto/model/evaluate.hpp"
#include "sotto/model/model_kind.hpp"

namespace sotto {
namespace {

Expected<std::vector<double>> finite_outputs(const Model& model,
                                             const Family& family,
                                             const Table& rows) {
  if (rows.labels().empty()) return fail(ErrorKind::kBadData, "there are no rows to evaluate.");
  SOTTO_ASSIGN(std::vector<double> outputs, family.outputs(rows, model.w));
  const auto bad = std::find_if_not(
      outputs.begin(), outputs.end(), [](double each) { return std::isfinite(each); });
  if (bad != outputs.end())
    return fail(ErrorKind::kBadData,
                fmt::format("the model's output for row {} is not a finite number: its weights are "
                            "too large. Train again.",
                            (bad - outputs.begin()) / family.width() + 1));
  return outputs;
}

/// One number per row of two classes.
std::vector<double> margins(std::vector<double> outputs, std::int64_t width) {
  if (width == 1) return outputs;
  std::vector<double> result;
  for (std::size_t i = 0; i + 1 < outputs.size(); i += 2)
    result.push_back(outputs[i + 1] - outputs[i]);
  return result;
}

}  // namespace

Expected<std::vector<double>> two_class_scores(const Model& model,
                                               const Family& family,
                                               const Table& rows) {
  SOTTO_ASSIGN(const ModelKind kind, kind_of(model));
  if (!kind.classes)
    return fail(ErrorKind::kUsage, "this needs two classes, but the model predicts numbers.");
  if (family.width() > 2)
    return fail(ErrorKind::kUsage,
                fmt::format("this needs two classes, but the model has {}.", family.width()));
  SOTTO_ASSIGN(std::vector<double> outputs, finite_outputs(model, family, rows));
  return margins(std::move(outputs), family.width());
}

Expected<Evaluation> evaluate_rows(const Model& model, const Family& family, const Table& rows) {
  SOTTO_ASSIGN(const ModelKind kind, kind_of(model));
  SOTTO_ASSIGN(std::vector<double> outputs, finite_outputs(model, family, rows));
  const auto labels = rows.labels();
  Evaluation result;
  result.rows = std::ssize(labels);
  result.loss = kind.loss;
  if (!kind.classes) {
    for (double& each : outputs) each = model.network.empty() ? prediction(model.loss, each) : each;
    result.numbers = measure_numbers(outputs, labels);
    if (model.network.empty() && model.loss.kind == LossKind::kPoisson)
      result.counts = measure_counts(outputs, labels);
    return result;
  }
  const auto width = static_cast<std::size_t>(family.width());
  const std::size_t classes = std::max<std::size_t>(2, width);
  SOTTO_ASSIGN(result.class_names, all_class_names(model, classes));
  result.confusion.assign(classes, std::vector<std::int64_t>(classes));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::size_t truth = width > 1       ? static_cast<std::size_t>(labels[i])
                              : labels[i] > 0 ? 1
                                              : 0;
    ++result.confusion[truth][guessed_class({outputs.data() + i * width, width})];
  }
  if (classes == 2)
    result.two =
        measure_scores(margins(std::move(outputs), family.width()), labels, kind.probabilities);
  else
    result.many = measure_softmax(outputs, labels, classes);
  return result;
}

}  // namespace sotto
