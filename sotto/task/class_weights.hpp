#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/error.hpp"

namespace sotto {

struct Dataset;

/// What is asked for of one class. The name is one of the schema's, with or without its further
/// spellings, or a declared class; of two classes also `positive` and `negative`.
struct ClassWeight {
  std::string name;
  double weight = 1;
};

/// Reads NAME=WEIGHT, several with commas between them. kUsage: a weight is no number in the range
/// that weights have.
Expected<std::vector<ClassWeight>> parse_class_weights(std::string_view text);

/// One weight per class, in the order of stored labels; 1 for those that nothing is asked for.
/// `data`: names and schema. kUsage: there is no such class, or it is named twice.
Expected<std::vector<double>> weights_by_class(const std::vector<ClassWeight>& asked,
                                               std::size_t classes,
                                               const Dataset& data);

}  // namespace sotto
