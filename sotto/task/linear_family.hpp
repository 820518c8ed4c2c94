#pragma once

#include "sotto/task/family.hpp"

namespace sotto {

/// What a linear model is, beside its rows. All of it is declared.
struct LinearModel {
  LossSpec loss;
  Regularizer regularizer;
  ConstraintPtr constraint;  ///< null: anywhere
  std::string constraint_text = "none";
  bool bias = false;
  double row_max = 0;         ///< bound on a row's absolute entries; 0: none
  double row_norm = 0;        ///< bound on a row's norm, bias included; 0: none
  double scaled_to = 0;       ///< longer rows were rescaled to it; 0: they were left as they are
  std::int64_t features = 0;  ///< without the intercept
};

/// Decisions by <w, x>.
class LinearFamily final : public Family {
 public:
  LinearFamily(LinearModel linear, const Dataset& data)
      : Family(data), linear_(std::move(linear)) {}
  static Expected<std::unique_ptr<Family>> of(const Model& model);

  PublicProblem problem(PublicCount n, Relation relation, bool persons) const override;
  Expected<std::unique_ptr<Engine>> engine(const Table& rows) const override;
  Facts facts() const override;
  void describe(Model& model) const override;
  void describe(RunRecord& record) const override;
  void put(Vector& trained, Vector& all) const override;
  Expected<std::vector<double>> outputs(const Table& rows, const Vector& all) const override;
  std::string prediction(std::span<const double> outputs) const override;
  Expected<void> check_probabilities() const override;
  std::vector<double> probabilities(std::span<const double> outputs) const override;
  Expected<void> check_evaluation() const override;
  Expected<Metrics> evaluate(const Table& rows,
                             const Vector& all,
                             std::span<const double> outputs) const override;
  std::int64_t most_test_points() const override { return 32; }

 protected:
  std::int64_t features() const override { return linear_.features; }
  void adapt(LoadOptions& options) const override;

 private:
  LinearFamily(LinearModel linear, const Model& model)
      : Family(model), linear_(std::move(linear)) {}
  std::int64_t dimension() const { return linear_.features + (linear_.bias ? 1 : 0); }
  /// An intercept only shifts the decision; it is not shrunk.
  Regularizer regularizer() const {
    return linear_.bias ? linear_.regularizer.on_first(linear_.features) : linear_.regularizer;
  }

  LinearModel linear_;
};

}  // namespace sotto
