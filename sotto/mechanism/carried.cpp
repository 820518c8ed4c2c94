#include "sotto/mechanism/carried.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sotto {
namespace {

constexpr double kLeastNoise = 1e-60;
constexpr double kMostNoise = 0x1p33;      // of a Gaussian, times the root of the number of values
constexpr double kMostLaplace = 0x1p28;    // 2 x 2 kGridRounding steps in 2^kExponentBits
constexpr double kLeastEpsilon = 0x1p-20;  // of a choice
/// With kLeastNoise and kMostNoise every unit of a grid is between 2^-800 and 2^800.
constexpr double kSmallest = 1e-150;
constexpr double kLargest = 1e150;

bool is_carried(const Term& term, double values) {
  using Mechanism = Term::Mechanism;
  switch (term.mechanism) {
    case Mechanism::kGaussian:
      return term.parameter >= kLeastNoise && term.parameter * std::sqrt(values) <= kMostNoise;
    case Mechanism::kLaplace:
      return term.parameter >= kLeastNoise && term.parameter <= kMostLaplace;
    case Mechanism::kExponential:
    case Mechanism::kSparseVector:
      return term.parameter >= kLeastEpsilon && std::isfinite(term.parameter);
    case Mechanism::kNonPrivate:
      return true;
  }
  return true;
}

}  // namespace

Expected<void> check_carried(const CanonicalEvent& releases, std::int64_t values) {
  const auto count = static_cast<double>(std::max<std::int64_t>(1, values));
  for (const Term& term : releases.terms)
    if (!is_carried(term, count))
      return fail(ErrorKind::kBudget,
                  fmt::format("the release {} is beyond what the noise sampler's grid can carry in "
                              "{} numbers. Nothing was released for it. Use another ‘epsilon’, or "
                              "less extreme options.",
                              to_string(term),
                              values));
  return {};
}

Expected<void> check_carried(const Event& release, std::int64_t values, double sensitivity) {
  SOTTO_ASSIGN(const CanonicalEvent releases, canonical(release));
  SOTTO_TRY(check_carried(releases, values));
  if (sensitivity >= kSmallest && sensitivity <= kLargest) return {};
  return fail(ErrorKind::kBudget,
              fmt::format("one record may move what is to be released by {:.3g}, which is beyond "
                          "the numbers that noise is made for ({} to {}). Nothing was released for "
                          "it. Use less extreme options.",
                          sensitivity,
                          kSmallest,
                          kLargest));
}

}  // namespace sotto
