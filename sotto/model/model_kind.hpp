#pragma once

#include <span>
#include <string>
#include <vector>

#include "sotto/model/model.hpp"

namespace sotto {

/// What a model's outputs mean.
struct ModelKind {
  std::string loss;
  bool classes = true;  ///< it predicts classes, not numbers
  bool probabilities = false;
};

Expected<ModelKind> kind_of(const Model& model);

/// The class that a classifier's outputs for one row stand for.
std::size_t guessed_class(std::span<const double> outputs);

/// Of a classifier with so many classes: full_class_names(), and numbers for those without a name.
/// kBadData if the schema has more.
Expected<std::vector<std::string>> all_class_names(const Model& model, std::size_t classes);

}  // namespace sotto
