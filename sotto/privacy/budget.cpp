#include "sotto/privacy/budget.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sotto/core/directed_text.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {

Expected<void> check(const Target& target) {
  if (!(std::isfinite(target.epsilon) && target.epsilon > 0))
    return fail(
        ErrorKind::kUsage,
        fmt::format("epsilon must be finite and > 0, but is {}. Set ‘epsilon’ to a positive "
                    "number, for example 1.",
                    target.epsilon));
  if (!(target.delta > 0 && target.delta < 1))
    return fail(ErrorKind::kUsage,
                fmt::format("delta must lie in (0, 1), but is {}. Set ‘delta’ well below 1/n, for "
                            "example 1e-6.",
                            target.delta));
  return {};
}

double sampler_delta(std::int64_t samples, double epsilon) {
  if (samples == 0) return 0;
  return (1 + std::exp(epsilon)) * static_cast<double>(samples) * kNoiseDistance;
}

namespace {

/// Says which epsilon would do: the one at which half of delta remains.
tl::unexpected<Error> out_of_reach(const Target& target, std::int64_t samples) {
  const double share = target.delta / (2 * static_cast<double>(samples) * kNoiseDistance) - 1;
  const std::string why = fmt::format(
      "the {} random numbers of its noise are a computer's, and each may differ from "
      "ideal noise by 2^-60, which counts e^epsilon-fold against delta",
      samples);
  if (!(share > 1))
    return fail(ErrorKind::kBudget,
                fmt::format("delta {} is too small for this run: {}. Use a larger ‘delta’ or fewer "
                            "steps.",
                            target.delta,
                            why));
  const std::string most = text_down(std::log(share), 3);
  return fail(ErrorKind::kBudget,
              fmt::format("epsilon {} is more than this run can promise at delta {}. Give ‘epsilon "
                          "{}’ or less, or a larger ‘delta’. Why there is a limit: {}.",
                          target.epsilon,
                          target.delta,
                          most,
                          why));
}

}  // namespace

Expected<Target> ideal_target(const Target& target, std::int64_t samples) {
  const double remaining = target.delta - sampler_delta(samples, target.epsilon);
  if (!(remaining > 0)) return out_of_reach(target, samples);
  return Target{target.epsilon, remaining};
}

Expected<double> epsilon_with_samples(const CanonicalEvent& event,
                                      std::int64_t samples,
                                      double delta,
                                      const Accountant& accountant) {
  SOTTO_ASSIGN(double epsilon, accountant.epsilon_upper(event, delta));
  // epsilon is valid once the event meets it at the delta that its own sampler cost leaves; and so
  // is what the event then needs, since a smaller epsilon has a smaller cost. So: up until one is
  // valid, then down to the least. Where the cost is a tiny part of delta this settles at once.
  double valid = kInfinity;
  for (int round = 0; round < 60 && std::isfinite(epsilon); ++round) {
    const double remaining = delta - sampler_delta(samples, epsilon);
    if (!(remaining > 0)) return valid;
    SOTTO_ASSIGN(const double needed, accountant.epsilon_upper(event, remaining));
    if (needed <= epsilon) {
      valid = needed;
      if (epsilon - needed <= 1e-12 * epsilon) return valid;
      epsilon = needed;
    } else if (std::isfinite(valid)) {
      return valid;
    } else {
      // A little beyond what is needed, so that a slowly converging sequence still ends.
      epsilon = needed + 0.5 * (needed - epsilon) + 1e-12 * (1 + needed);
    }
  }
  return valid;
}

}  // namespace sotto
