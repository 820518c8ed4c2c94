#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sotto/data/io/output_column.hpp"
#include "sotto/model/model_kind.hpp"
#include "sotto/task/family.hpp"

namespace sotto {

struct ScoreOptions;

/// What a model says of one row.
struct RowScore {
  std::size_t guess = 0;              ///< the predicted class
  double shown = 0;                   ///< the probability, score or number that thresholds mean
  double key = 0;                     ///< the higher, the earlier in a sorted list
  std::vector<double> probabilities;  ///< by class; empty if the model has none
};

/// The columns of a file of predictions: those that are kept or `row`, then `prediction`, and of a
/// classifier `probability` (a `score` if it has none) or one for each class.
class ScoreColumns {
 public:
  /// kUsage: options that don't fit the model or each other.
  static Expected<ScoreColumns> make(const Model& model,
                                     const Family& family,
                                     const ScoreOptions& options);

  /// kUsage if a kept column has the name of another one.
  Expected<std::vector<OutputColumn>> all(const std::vector<std::string>& kept) const;
  void measure(std::span<const double> outputs, RowScore& score) const;
  /// Adds the fields from `prediction` on.
  void append(std::string& line, const RowScore& score) const;
  const std::vector<std::string>& class_names() const { return class_names_; }

 private:
  ScoreColumns(const Model& model, const Family& family, ModelKind kind)
      : family_(&family), loss_(model.loss), linear_(model.network.empty()), kind_(kind) {}
  Expected<void> choose_class(const std::string& name, const Model& model);
  std::vector<OutputColumn> own_columns() const;

  const Family* family_;
  LossSpec loss_;
  bool linear_;
  ModelKind kind_;
  bool all_probabilities_ = false;
  bool flags_ = false;
  std::vector<std::string> class_names_;
  std::vector<std::string> class_fields_;  ///< the names as CSV
  std::optional<std::size_t> ranked_;      ///< the class whose probability orders rows
};

}  // namespace sotto
