#pragma once

#include <string_view>

#include "sotto/core/error.hpp"
#include "sotto/oracle/api/public_problem.hpp"

namespace sotto {

/// Refuses a regularizer with a part that only a prox step sees, for methods whose steps follow its
/// gradient alone: they would leave that part out in silence. `what` begins the message, `remedy`
/// ends it.
Expected<void> require_smooth(const PublicProblem& problem,
                              std::string_view what,
                              std::string_view remedy);

/// The same for a method that descends along gradients or Hessians.
Expected<void> require_smooth(const PublicProblem& problem, std::string_view what);

}  // namespace sotto
