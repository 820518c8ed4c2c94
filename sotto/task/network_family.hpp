#pragma once

#include <optional>

#include "sotto/objective/network/spec.hpp"
#include "sotto/task/family.hpp"

namespace sotto {

/// A network, with the weights that training starts from.
class NetworkFamily final : public Family {
 public:
  /// `start`: the weights of all layers.
  NetworkFamily(NetworkSpec spec, Vector start, Regularizer regularizer, const Dataset& data);
  static Expected<std::unique_ptr<Family>> of(const Model& model);

  PublicProblem problem(PublicCount n, Relation relation, bool persons) const override;
  Expected<std::unique_ptr<Engine>> engine(const Table& rows) const override;
  bool slow() const override;
  Expected<std::optional<double>> speed() const override;
  Facts facts() const override;
  void describe(Model& model) const override;
  void describe(RunRecord& record) const override;
  void put(Vector& trained, Vector& all) const override;
  Expected<std::vector<double>> outputs(const Table& rows, const Vector& all) const override;
  std::int64_t width() const override { return width_; }
  std::string prediction(std::span<const double> outputs) const override;
  Expected<void> check_probabilities() const override;
  std::vector<double> probabilities(std::span<const double> outputs) const override;
  Expected<Metrics> evaluate(const Table& rows,
                             const Vector& all,
                             std::span<const double> outputs) const override;
  std::int64_t most_test_points() const override { return 12; }

 protected:
  std::int64_t features() const override { return spec_.input.size(); }
  void adapt(LoadOptions& options) const override;

 private:
  NetworkFamily(NetworkSpec spec, Regularizer regularizer, const Model& model);

  NetworkSpec spec_;
  Vector start_;
  Regularizer regularizer_;
  std::int64_t width_ = 1;
  double row_norm_ = 0;  ///< that a schema declares; 0: none
};

/// What a network of this loss takes for labels.
LabelKind labels_of(NetworkLoss loss);

}  // namespace sotto
