#include "sotto/mechanism/permute_and_flip.hpp"

#include <numeric>
#include <utility>
#include <vector>

#include "sotto/core/check.hpp"
#include "sotto/mechanism/receipt_check.hpp"
#include "sotto/random/exponential.hpp"

namespace sotto {

Released<std::int64_t> PermuteAndFlip::release(Sensitive<Vector> scores,
                                               Receipt receipt,
                                               double epsilon,
                                               ScoreMotion motion,
                                               Stream& selection) {
  const SensitivityClaim claim = scores.claim();
  Event event = claim.sampling().applied_to(Event::sparse_vector(epsilon, claim.relation()));
  internal::check_receipt(receipt, event, 1);
  const ReleaseKey key;
  const std::vector<std::uint64_t> steps =
      internal::steps_below_best(std::move(scores).open(key), claim.sensitivity(), epsilon, motion);
  SOTTO_CHECK(steps.size() <= std::size_t{1} << 20);

  std::vector<std::size_t> order(steps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = 0;; ++i) {
    SOTTO_CHECK(i < order.size());  // the best candidate is taken when its turn comes
    std::swap(order[i], order[i + selection.below(order.size() - i)]);
    const std::uint64_t below = steps[order[i]];
    if (below == 0 || internal::uniform_fraction(selection) < internal::exp_minus(below)) {
      return Released<std::int64_t>(key, static_cast<std::int64_t>(order[i]), std::move(event));
    }
  }
}

}  // namespace sotto
