#include "sotto/model/recalibrate.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "sotto/core/check.hpp"
#include "sotto/objective/network/spec.hpp"

namespace sotto {
namespace {

using Method = Recalibration::Method;

/// Rows with what their probabilities are made of.
struct Problem {
  std::span<const double> scores;
  std::span<const float> labels;
  std::span<const double> units;
  double scale;  ///< of the scores: the slope is fitted to scores / scale

  double argument(std::size_t i, const Eigen::Vector2d& at) const {
    return at[0] * (scores[i] / scale) + at[1] * units[i];
  }
  void derive(const Eigen::Vector2d& at,
              Eigen::Vector2d& gradient,
              Eigen::Matrix2d& hessian) const {
    gradient.setZero();
    hessian.setZero();
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const Eigen::Vector2d row(scores[i] / scale, units[i]);
      const double p = 1 / (1 + std::exp(-argument(i, at)));
      gradient += (p - (labels[i] > 0 ? 1 : 0)) * row;
      hessian += p * (1 - p) * row * row.transpose();
    }
    gradient /= static_cast<double>(scores.size());
    hessian /= static_cast<double>(scores.size());
  }
};

/// Where the derivative along the intercept is 0, with the slope as it is: it grows with the
/// intercept, so that bisection guards the steps where all probabilities are 0 or 1.
double best_intercept(const Problem& problem, double slope) {
  Eigen::Vector2d gradient;
  Eigen::Matrix2d hessian;
  const auto derivative = [&](double intercept) {
    problem.derive({slope, intercept}, gradient, hessian);
    return gradient[1];
  };
  double low = -1;
  double high = 1;
  while (derivative(low) > 0 && std::isfinite(low)) low *= 2;
  while (derivative(high) < 0 && std::isfinite(high)) high *= 2;
  double at = 0;
  for (int i = 0; i < 200; ++i) {
    (derivative(at) > 0 ? high : low) = at;
    const double step = at - gradient[1] / hessian(1, 1);
    const double next = step > low && step < high ? step : low + (high - low) / 2;
    if (next == at) break;
    at = next;
  }
  return at;
}

/// Where both derivatives of the convex loss are 0: Newton's steps, halved until they make the
/// gradient smaller, as a short enough one does up to rounding. (The loss itself would stop it too
/// early: near its least it is flat to the last digit.)
Expected<Eigen::Vector2d> best_pair(const Problem& problem) {
  Eigen::Vector2d at(0, best_intercept(problem, 0));
  Eigen::Vector2d gradient;
  Eigen::Matrix2d hessian;
  problem.derive(at, gradient, hessian);
  for (int i = 0; i < 200; ++i) {
    const Eigen::Vector2d step = hessian.ldlt().solve(gradient);
    if (!step.allFinite()) break;
    const double before = gradient.norm();
    Eigen::Vector2d next = at;
    for (double size = 1; size > 1e-9; size /= 2) {
      next = at - size * step;
      problem.derive(next, gradient, hessian);
      if (gradient.norm() < before) break;
    }
    if (!(gradient.norm() < before)) break;
    at = next;
  }
  problem.derive(at, gradient, hessian);
  constexpr double kSettled = 1e-10;
  if (gradient.norm() <= kSettled) return at;
  return fail(ErrorKind::kBadData,
              "no best fit was found: the scores all but separate the classes. Use more rows, or "
              "‘method intercept’.");
}

Expected<void> check_classes(std::span<const float> labels) {
  const auto positive = [](float label) { return label > 0; };
  if (std::none_of(labels.begin(), labels.end(), positive) ||
      std::all_of(labels.begin(), labels.end(), positive))
    return fail(ErrorKind::kBadData,
                "all rows are of one class: no probability but 0 or 1 fits them best. Use rows of "
                "both classes.");
  return {};
}

/// Slopes without bound would fit better and better.
Expected<void> check_overlap(const Problem& problem) {
  double least[2];
  double most[2];
  std::fill(least, least + 2, std::numeric_limits<double>::infinity());
  std::fill(most, most + 2, -std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < problem.scores.size(); ++i) {
    const int c = problem.labels[i] > 0 ? 1 : 0;
    const double score = problem.scores[i] / problem.units[i];
    least[c] = std::min(least[c], score);
    most[c] = std::max(most[c], score);
  }
  if (std::min(least[0], least[1]) == std::max(most[0], most[1]))
    return fail(ErrorKind::kBadData,
                "all scores are equal, so that no slope fits better than another. Use ‘method "
                "intercept’.");
  if (most[0] <= least[1] || most[1] <= least[0])
    return fail(ErrorKind::kBadData,
                "the scores separate the classes of these rows, so that the best slope is "
                "infinite. Use more rows, or ‘method intercept’.");
  return {};
}

/// The intercept's feature of each row, which is the last.
std::vector<double> intercept_units(const Table& rows) {
  std::vector<double> units;
  for (std::int64_t i = 0; i < rows.rows(); ++i)
    units.push_back(rows.sparse() ? rows.values()[static_cast<std::size_t>(
                                        rows.offsets()[static_cast<std::size_t>(i) + 1] - 1)]
                                  : rows.row(i)[rows.dim() - 1]);
  return units;
}

tl::unexpected<Error> no_probabilities(const std::string& loss) {
  return fail(ErrorKind::kUsage,
              fmt::format("recalibration needs a model with probabilities (logistic, or softmax of "
                          "two classes), but this one has the loss {}.",
                          loss));
}

/// Where the weights are that make the score of two classes, the intercept the last of them.
struct Place {
  Eigen::Index begin = 0;
  Eigen::Index count = 0;
};

Expected<Place> linear_place(const Model& model) {
  if (model.loss.kind != LossKind::kLogistic) return no_probabilities(to_string(model.loss));
  if (!model.bias)
    return fail(ErrorKind::kUsage,
                "the model has no intercept that could be changed: its rows are read and scaled "
                "without one. Train with ‘bias’.");
  return Place{0, model.w.size()};
}

Expected<Place> network_place(const Model& model) {
  SOTTO_ASSIGN(const NetworkSpec spec, parse_network(model.network, "the model's network"));
  if (spec.loss == NetworkLoss::kSquared) return no_probabilities("squared");
  const LayerSpec& last = spec.layers.back();
  if (last.kind != LayerKind::kLinear || !last.bias)
    return fail(ErrorKind::kUsage,
                fmt::format("the network's last layer is '{}', but only a linear one with biases "
                            "can be recalibrated.",
                            to_text(last)));
  if (last.outputs > 2)
    return fail(
        ErrorKind::kUsage,
        fmt::format("recalibration is for two classes, but the network has {}.", last.outputs));
  const ParameterRange range = parameter_ranges(spec).back();
  return Place{range.begin, range.count()};
}

Expected<Place> place_of(const Model& model) {
  return model.network.empty() ? linear_place(model) : network_place(model);
}

}  // namespace

Expected<ScoreFit> fit_scores(std::span<const double> scores,
                              std::span<const float> labels,
                              std::span<const double> units,
                              Method method) {
  SOTTO_CHECK(!scores.empty() && scores.size() == labels.size() && scores.size() == units.size());
  SOTTO_TRY(check_classes(labels));
  double scale = std::numeric_limits<double>::min();
  for (const double score : scores) scale = std::max(scale, std::abs(score));
  const Problem problem{scores, labels, units, method == Method::kPlatt ? scale : 1};
  if (method == Method::kIntercept) return ScoreFit{1, best_intercept(problem, 1)};
  SOTTO_TRY(check_overlap(problem));
  SOTTO_ASSIGN(const Eigen::Vector2d best, best_pair(problem));
  const ScoreFit fit{best[0] / scale, best[1]};
  if (!(fit.slope > 0))
    return fail(
        ErrorKind::kBadData,
        fmt::format("the best slope is {:.4g}: on these rows a higher score makes the second class "
                    "less likely, and no scale mends that. Check that they are read as the rows of "
                    "training were, or use ‘method intercept’.",
                    fit.slope));
  return fit;
}

Expected<void> check_recalibration(const Model& model) {
  SOTTO_TRY(place_of(model));
  return {};
}

std::int64_t rescaled_rows(const Model& model, const Table& rows) {
  if (!model.network.empty()) return 0;
  const std::vector<double> units = intercept_units(rows);
  return std::count_if(units.begin(), units.end(), [](double unit) { return unit != 1; });
}

Expected<void> recalibrate(Model& model,
                           std::span<const double> scores,
                           const Table& rows,
                           Method method) {
  SOTTO_ASSIGN(const Place place, place_of(model));
  std::vector<double> units(scores.size(), 1);
  if (model.network.empty()) {
    units = intercept_units(rows);
    if (*std::min_element(units.begin(), units.end()) <= 0)
      return fail(ErrorKind::kBadData,
                  "a row is so much longer than ‘row_norm’ that nothing is left of its intercept. "
                  "Leave it out.");
  }
  SOTTO_ASSIGN(const ScoreFit fit, fit_scores(scores, rows.labels(), units, method));
  Vector changed = fit.slope * model.w.segment(place.begin, place.count);
  changed[place.count - 1] += fit.intercept;
  if (!changed.allFinite())
    return fail(ErrorKind::kBadData,
                fmt::format("a slope of {:.4g} makes weights that are no finite numbers. Train "
                            "again.",
                            fit.slope));
  model.w.segment(place.begin, place.count) = changed;
  const Recalibration before = model.recalibrated.value_or(Recalibration{});
  model.recalibrated = {
      method, fit.slope * before.slope, fit.slope * before.intercept + fit.intercept, rows.rows()};
  model.certificate.reset();
  return {};
}

}  // namespace sotto
