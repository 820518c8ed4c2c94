#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/model/model.hpp"

namespace sotto {

/// A weight of a linear model.
struct Coefficient {
  std::string name;   ///< the feature's, or `feature 3` (counted from 1); `intercept`
  double weight = 0;  ///< of the feature as the model sees it, numeric ones from 0 to 1
  /// Of a numeric column of the schema: its declared bounds. Outside values count as the bound.
  std::optional<std::pair<double, double>> bounds = std::nullopt;

  /// The standard deviation of training's noise in the weight, where somebody knows it.
  std::optional<double> noise = std::nullopt;

  /// Of a number that is about the weight: the same for one more of the column's own unit.
  double per_unit(double of_weight) const {
    return bounds ? of_weight / (bounds->second - bounds->first) : of_weight;
  }
  /// What one more of the column's own unit adds to the score.
  double per_unit() const { return per_unit(weight); }
};

/// In the order of the weights, the intercept last. kBadData if the schema is not the model's.
Expected<std::vector<Coefficient>> coefficients(const Model& model);

/// A feature's weight for each class, in a linear model of several classes. Only differences
/// between classes matter, so each is told against the mean of all classes.
struct ClassCoefficient {
  std::string name;
  std::vector<double> weights;
  /// Between the classes that it tells apart most.
  double spread() const;
};

struct ClassCoefficients {
  std::vector<ClassCoefficient> features;
  std::optional<ClassCoefficient> intercept;
};

/// Of a network that is one linear layer, which is what `loss multinomial` trains, in the order of
/// its features; none of any other model.
Expected<std::optional<ClassCoefficients>> class_coefficients(const Model& model);

/// The classes, each with all spellings that the schema declares for it: `NO or >30`. Two without
/// names are -1 and +1; empty for regression.
Expected<std::vector<std::string>> full_class_names(const Model& model);

}  // namespace sotto
