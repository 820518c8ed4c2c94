#include "sotto/optimizer/parts/clip_rule_option.hpp"

#include <cmath>

namespace sotto {

Expected<void> check(ClipRule rule, const PublicProblem& problem) {
  if (rule == ClipRule::kGlm && !(problem.linear_rows && std::isfinite(problem.row_norm)))
    return fail(ErrorKind::kUsage,
                "‘clip_rule glm’ needs a declared row norm and one row per unit, of a loss that is "
                "not a program's own: only then do gradients "
                "have a bound that follows the model. Give ‘row_norm’, or use ‘clip_rule flat’.");
  if (rule == ClipRule::kLayers && !problem.network)
    return fail(ErrorKind::kUsage, "‘clip_rule layers’ is for networks: only they have layers.");
  return {};
}

}  // namespace sotto
