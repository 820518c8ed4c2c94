#include "sotto/mechanism/exponential.hpp"

#include <utility>
#include <vector>

#include "sotto/core/check.hpp"
#include "sotto/mechanism/receipt_check.hpp"
#include "sotto/random/exponential.hpp"

namespace sotto {

Released<std::int64_t> ExponentialMechanism::release(Sensitive<Vector> scores,
                                                     Receipt receipt,
                                                     double epsilon,
                                                     ScoreMotion motion,
                                                     Stream& selection) {
  using internal::Fraction;
  constexpr int kMostCandidateBits = 20;
  const SensitivityClaim claim = scores.claim();
  Event event = claim.sampling().applied_to(Event::exponential(epsilon, claim.relation()));
  internal::check_receipt(receipt, event, 1);
  const ReleaseKey key;
  const std::vector<std::uint64_t> steps =
      internal::steps_below_best(std::move(scores).open(key), claim.sensitivity(), epsilon, motion);
  SOTTO_CHECK(steps.size() <= std::size_t{1} << kMostCandidateBits);

  // Cumulative weights, scaled so that their sum can't overflow.
  std::vector<Fraction> cumulative;
  Fraction total = 0;
  for (const std::uint64_t s : steps) {
    cumulative.push_back(total += internal::exp_minus(s) >> kMostCandidateBits);
  }
  const Fraction point = internal::product(internal::uniform_fraction(selection), total);
  std::int64_t chosen = 0;
  for (const Fraction c : cumulative) chosen += point >= c;
  return Released<std::int64_t>(key, chosen, std::move(event));
}

}  // namespace sotto
