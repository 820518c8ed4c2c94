#include "sotto/task/linear_family.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sotto/core/digest.hpp"
#include "sotto/model/evaluate.hpp"
#include "sotto/objective/glm.hpp"

namespace sotto {

Expected<std::unique_ptr<Family>> LinearFamily::of(const Model& model) {
  LinearModel linear;
  linear.loss = model.loss;
  SOTTO_ASSIGN(linear.regularizer, Regularizer::parse(model.regularizer));
  linear.bias = model.bias;
  linear.row_norm = linear.scaled_to = model.row_norm;
  linear.features = model.w.size() - (model.bias ? 1 : 0);
  return std::unique_ptr<Family>(new LinearFamily(std::move(linear), model));
}

void LinearFamily::adapt(LoadOptions& options) const {
  options.labels = loss_info(linear_.loss).classification ? LabelKind::kBinary : LabelKind::kReal;
  options.bias = linear_.bias;
  options.row_norm = linear_.scaled_to;
}

PublicProblem LinearFamily::problem(PublicCount n, Relation relation, bool persons) const {
  PublicProblem problem;
  problem.n = n;
  problem.dimension = dimension();
  problem.row_norm =
      linear_.row_norm > 0 ? linear_.row_norm : std::numeric_limits<double>::infinity();
  problem.loss = loss_info(linear_.loss);
  problem.regularizer = regularizer();
  problem.relation = relation;
  problem.constraint = linear_.constraint;
  // The intercept's entry is 1.
  if (linear_.row_max > 0)
    problem.row_max = linear_.bias ? std::max(linear_.row_max, 1.0) : linear_.row_max;
  problem.linear_rows = !persons && problem.loss.proven;
  return problem;
}

Expected<std::unique_ptr<Engine>> LinearFamily::engine(const Table& rows) const {
  SOTTO_TRY(check_loss(linear_.loss));
  return std::make_unique<GlmEngine>(rows, linear_.loss);
}

Facts LinearFamily::facts() const {
  return {{"‘loss’", to_string(linear_.loss)},
          {"‘bias’", linear_.bias ? "given" : "none"},
          {"the schema", sha256(schema())},
          {"the classes", fmt::format("{}", fmt::join(class_names(), ", "))}};
}

void LinearFamily::describe(Model& model) const {
  model.loss = linear_.loss;
  model.regularizer = linear_.regularizer.to_string();
  model.bias = linear_.bias;
  model.row_norm = linear_.scaled_to;
  describe_names(model);
}

void LinearFamily::describe(RunRecord& record) const {
  record.loss = to_string(linear_.loss);
  record.regularizer = linear_.regularizer.to_string();
  record.constraint = linear_.constraint_text;
  record.class_names = class_names();
}

void LinearFamily::put(Vector& trained, Vector& all) const {
  if (trained.size() > 0) all = std::move(trained);
}

Expected<std::vector<double>> LinearFamily::outputs(const Table& rows, const Vector& all) const {
  return scores(rows, all);
}

std::string LinearFamily::prediction(std::span<const double> outputs) const {
  if (!loss_info(linear_.loss).classification)
    return fmt::format("{}", sotto::prediction(linear_.loss, outputs[0]));
  const bool positive = outputs[0] > 0;
  if (class_names().size() == 2) return class_names()[positive ? 1 : 0];
  return positive ? "1" : "-1";
}

Expected<void> LinearFamily::check_probabilities() const {
  if (linear_.loss.kind == LossKind::kLogistic) return {};
  return fail(ErrorKind::kUsage,
              fmt::format("‘proba’ needs a logistic model, but this one has the loss {}.",
                          to_string(linear_.loss)));
}

std::vector<double> LinearFamily::probabilities(std::span<const double> outputs) const {
  return {1 / (1 + std::exp(-outputs[0]))};
}

Expected<void> LinearFamily::check_evaluation() const { return check_loss(linear_.loss); }

Expected<Metrics> LinearFamily::evaluate(const Table& rows,
                                         const Vector& all,
                                         std::span<const double> outputs) const {
  SOTTO_TRY(check_evaluation());
  return sotto::evaluate(rows, all, linear_.loss, regularizer().value(all), outputs);
}

}  // namespace sotto
