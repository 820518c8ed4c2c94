#pragma once

#include <cmath>
#include <string>

#include "sotto/core/error.hpp"
#include "sotto/optimizer/option_table.hpp"
#include "sotto/oracle/api/public_problem.hpp"
#include "sotto/oracle/api/query.hpp"

namespace sotto {

template <class Options>
void add_clip_rule_option(OptionTable<Options>& table) {
  table.word("clip_rule",
             &Options::clip_rule,
             {"flat", "glm"},
             "glm: a linear model's terms are also bounded by what the loss allows at the current "
             "model, and the noise follows");
}

inline ClipRule clip_rule_of(const std::string& word) {
  return word == "glm" ? ClipRule::kGlm : ClipRule::kFlat;
}

inline Expected<void> check_clip_rule(const std::string& word, const PublicProblem& problem) {
  if (word == "glm" && !(problem.linear_rows && std::isfinite(problem.row_norm)))
    return fail(
        ErrorKind::kUsage,
        "--clip-rule glm needs a declared row norm and one row a unit: only then do gradients "
        "have a bound that follows the model. Give --row-norm, or use --clip-rule flat.");
  return {};
}

}  // namespace sotto
