#include "sotto/model/model_kind.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sotto/core/text.hpp"
#include "sotto/model/coefficients.hpp"
#include "sotto/objective/network/spec.hpp"

namespace sotto {

Expected<ModelKind> kind_of(const Model& model) {
  if (model.network.empty())
    return ModelKind{to_string(model.loss),
                     loss_info(model.loss).classification,
                     model.loss.kind == LossKind::kLogistic};
  SOTTO_ASSIGN(const NetworkSpec spec, parse_network(model.network, "the model's network"));
  switch (spec.loss) {
    case NetworkLoss::kSoftmax:
      return ModelKind{"softmax", true, true};
    case NetworkLoss::kLogistic:
      return ModelKind{"logistic", true, true};
    case NetworkLoss::kSquared:
      break;
  }
  return ModelKind{"squared", false, false};
}

std::size_t guessed_class(std::span<const double> outputs) {
  if (outputs.size() == 1) return outputs[0] > 0 ? 1 : 0;
  return static_cast<std::size_t>(std::max_element(outputs.begin(), outputs.end()) -
                                  outputs.begin());
}

Expected<std::vector<std::string>> all_class_names(const Model& model, std::size_t classes) {
  SOTTO_ASSIGN(std::vector<std::string> names, full_class_names(model));
  for (std::size_t c = names.size(); c < classes; ++c) names.push_back(std::to_string(c));
  if (names.size() > classes)
    return fail(ErrorKind::kBadData,
                fmt::format("the model has {} classes, but its schema declares {}. Train again.",
                            classes,
                            names.size()));
  // A model that is no file of ours may hold any schema.
  for (const std::string& name : names)
    if (has_control_characters(name))
      return fail(ErrorKind::kBadData,
                  fmt::format("the class '{}' has a control character, which could forge a line of "
                              "the predictions. Declare another name, and train again.",
                              escaped(name)));
  return names;
}

}  // namespace sotto
