#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/error.hpp"

namespace sotto {

struct Dataset;
struct LossSpec;
struct NetworkSpec;

/// What is asked for of one class. The name is one of the schema's, with or without its further
/// spellings, or a declared class; of two classes also `positive` and `negative`.
struct ClassWeight {
  std::string name;
  double weight = 1;
  std::string text = {};  ///< as it was given: it may be the beginning of the next one's name
};

/// Reads NAME=WEIGHT, several with commas between them. A name may have commas itself, and a name
/// with a number behind an equals sign before one (`<=3,5`) comes apart here: weights_by_class,
/// which knows the classes, puts it together. kUsage: a weight is no number.
Expected<std::vector<ClassWeight>> parse_class_weights(std::string_view text);

/// One weight per class, in the order of stored labels; 1 for those that nothing is asked for.
/// `data`: names and schema. kUsage: there is no such class, it is named twice, or its weight is
/// outside the range that weights have.
Expected<std::vector<double>> weights_by_class(const std::vector<ClassWeight>& asked,
                                               std::size_t classes,
                                               const Dataset& data);

/// kUsage if a loss has no classes, or has weights of its own already: one would be lost.
Expected<void> check_weighable(const LossSpec& loss);
/// weights_by_class() for a loss that passes check_weighable(), or for a network's classes. Nothing
/// asked for changes nothing. kUsage for a network that has weights of its own, or no classes.
Expected<void> weigh_classes(LossSpec& loss,
                             const std::vector<ClassWeight>& asked,
                             const Dataset& data);
Expected<void> weigh_classes(NetworkSpec& spec,
                             const std::vector<ClassWeight>& asked,
                             const Dataset& data);

}  // namespace sotto
