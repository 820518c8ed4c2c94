#include "sotto/optimizer/parts/sampling_option.hpp"

#include <fmt/format.h>

namespace sotto {

Sampling sampling_of(Sampling::Kind kind, std::int64_t batch, std::int64_t n) {
  if (batch >= n) return Sampling::full();
  if (kind == Sampling::Kind::kFixedSize) return Sampling::fixed_size(batch, n);
  return Sampling::poisson(static_cast<double>(batch) / static_cast<double>(n));
}

Expected<void> check(Sampling::Kind kind, const PublicProblem& problem) {
  if (kind == Sampling::Kind::kFixedSize && problem.relation == Relation::kAddRemove)
    return fail(ErrorKind::kUsage,
                "‘sampling fixed_size’ draws so many of the real number of units, which is secret "
                "under add-remove. Use ‘sampling poisson’, or ‘neighbours replace-one’ or "
                "zero-out.");
  return {};
}

Expected<void> check_batch(std::string_view option,
                           std::optional<std::int64_t> batch,
                           const PublicProblem& problem) {
  if (!batch || (*batch >= 1 && *batch <= problem.n)) return {};
  return refused(option,
                 fmt::format("must lie between 1 and the number of units, {}", problem.n),
                 fmt::format("{}", *batch));
}

}  // namespace sotto
