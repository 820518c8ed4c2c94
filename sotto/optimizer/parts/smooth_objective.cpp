#include "sotto/optimizer/parts/smooth_objective.hpp"

#include <fmt/format.h>

namespace sotto {

Expected<void> require_smooth(const PublicProblem& problem,
                              std::string_view what,
                              std::string_view remedy) {
  if (problem.regularizer.smooth()) return {};
  return fail(ErrorKind::kUsage,
              fmt::format("{} a smooth objective, but the regularizer {} is not. {}",
                          what,
                          problem.regularizer.to_string(),
                          remedy));
}

Expected<void> require_smooth(const PublicProblem& problem, std::string_view what) {
  return require_smooth(problem,
                        what,
                        "Use ‘regularizer’ l2 or nonconvex, or a method with prox steps, such as "
                        "dp-gd or dp-pgd.");
}

}  // namespace sotto
