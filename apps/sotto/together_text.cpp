#include "together_text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sotto/core/directed_text.hpp"
#include "sotto/privacy/seed_mark.hpp"

namespace sotto::app {

std::string joint_text(const TogetherPrice& together) {
  return fmt::format("epsilon {}{} at delta {} ({}), {} runs",
                     text_up(together.epsilon),
                     seed_mark(together.seeded),
                     text_up(together.delta),
                     to_string(together.relation),
                     together.paid);
}

std::string sum_text(const TogetherPrice& together) {
  return fmt::format("epsilon <= {}{} at delta {}",
                     text_up(together.sum.epsilon),
                     seed_mark(together.seeded),
                     text_up(together.sum.delta));
}

std::string samplers_text(const TogetherPrice& together) {
  if (!together.samplers_limit) return "";
  return fmt::format(
      "The runs' prices were {}: each number of noise costs (1 + e^epsilon) 2^-60 of delta, and at "
      "the epsilon of all plans composed that is more than this delta has. A larger --delta lets "
      "them be composed.",
      std::isfinite(together.epsilon) ? "added up" : "not composed");
}

}  // namespace sotto::app
