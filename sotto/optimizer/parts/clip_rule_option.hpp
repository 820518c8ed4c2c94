#pragma once

#include "sotto/core/error.hpp"
#include "sotto/optimizer/option_table.hpp"
#include "sotto/oracle/api/public_problem.hpp"
#include "sotto/oracle/api/query.hpp"

namespace sotto {

template <class Options>
void add_clip_rule_option(OptionTable<Options>& table) {
  table.choice("clip_rule",
               &Options::clip_rule,
               {{ClipRule::kFlat, "flat"}, {ClipRule::kGlm, "glm"}},
               "glm: a linear model's terms are also bounded by what the loss allows at the "
               "current model, and the noise follows");
}
/// The same for methods whose releases are single gradients, which a network clips by layers too.
template <class Options>
void add_clip_rule_option_with_layers(OptionTable<Options>& table) {
  table.choice(
      "clip_rule",
      &Options::clip_rule,
      {{ClipRule::kFlat, "flat"}, {ClipRule::kGlm, "glm"}, {ClipRule::kLayers, "layers"}},
      "glm: a linear model's terms are also bounded by what the loss allows at the current model, "
      "and the noise follows; layers: each of a network's L layers is clipped to C / sqrt(L)");
}

/// Refuses a rule that does not fit the problem.
Expected<void> check(ClipRule rule, const PublicProblem& problem);

}  // namespace sotto
