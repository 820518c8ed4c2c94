#pragma once

#include <cmath>
#include <string>

#include "sotto/core/error.hpp"
#include "sotto/optimizer/option_table.hpp"
#include "sotto/oracle/api/public_problem.hpp"
#include "sotto/oracle/api/query.hpp"

namespace sotto {

/// `layers`: whether the method's releases are single gradients, which a network clips by layers
/// too.
template <class Options>
void add_clip_rule_option(OptionTable<Options>& table, bool layers = false) {
  if (layers)
    table.word(
        "clip_rule",
        &Options::clip_rule,
        {"flat", "glm", "layers"},
        "glm: a linear model's terms are also bounded by what the loss allows at the current "
        "model, and the noise follows; layers: each of a network's L layers is clipped to "
        "C / sqrt(L)");
  else
    table.word(
        "clip_rule",
        &Options::clip_rule,
        {"flat", "glm"},
        "glm: a linear model's terms are also bounded by what the loss allows at the current "
        "model, and the noise follows");
}

inline ClipRule clip_rule_of(const std::string& word) {
  if (word == "layers") return ClipRule::kLayers;
  return word == "glm" ? ClipRule::kGlm : ClipRule::kFlat;
}

inline Expected<void> check_clip_rule(const std::string& word, const PublicProblem& problem) {
  if (word == "glm" && !(problem.linear_rows && std::isfinite(problem.row_norm)))
    return fail(
        ErrorKind::kUsage,
        "--clip-rule glm needs a declared row norm and one row a unit: only then do gradients "
        "have a bound that follows the model. Give --row-norm, or use --clip-rule flat.");
  if (word == "layers" && !problem.network)
    return fail(ErrorKind::kUsage, "--clip-rule layers is for networks: only they have layers.");
  return {};
}

}  // namespace sotto
