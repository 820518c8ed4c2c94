#include "sotto/mechanism/laplace.hpp"

#include <cmath>
#include <utility>

#include "sotto/core/check.hpp"
#include "sotto/mechanism/grid.hpp"
#include "sotto/mechanism/receipt_check.hpp"
#include "sotto/random/exponential.hpp"

namespace sotto {

Released<double> LaplaceMechanism::release(Sensitive<double> value,
                                           Receipt receipt,
                                           double noise_multiplier,
                                           Stream& noise) {
  SOTTO_CHECK(noise_multiplier > 0 && std::isfinite(noise_multiplier));
  const SensitivityClaim claim = value.claim();
  Event event = claim.sampling().applied_to(Event::laplace(noise_multiplier, claim.relation()));
  internal::check_receipt(receipt, event, 1);
  const double unit = internal::grid_unit(claim.sensitivity(),
                                          std::ldexp(1 / noise_multiplier, kExponentBits),
                                          2 * internal::kGridRounding);
  const ReleaseKey key;
  const std::int64_t steps = internal::to_grid(std::move(value).open(key), unit) +
                             sample_floored_laplace(noise, kExponentBits);
  // Floored noise is low by half a step on average.
  return Released<double>(key, (static_cast<double>(steps) + 0.5) * unit, std::move(event));
}

}  // namespace sotto
