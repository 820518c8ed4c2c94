#include "sotto/mechanism/gaussian.hpp"

#include <utility>

#include "sotto/mechanism/grid.hpp"
#include "sotto/mechanism/receipt_check.hpp"
#include "sotto/random/gaussian.hpp"

namespace sotto {

Released<Vector> GaussianMechanism::release(Sensitive<Vector> value,
                                            Receipt receipt,
                                            double noise_multiplier,
                                            Stream& noise) {
  const SensitivityClaim claim = value.claim();
  Event event = claim.sampling().applied_to(Event::gaussian(noise_multiplier, claim.relation()));
  const ReleaseKey key;
  Vector result = std::move(value).open(key);
  internal::check_receipt(receipt, event, result.size());
  const double unit = internal::gaussian_unit(claim.sensitivity(), noise_multiplier, result.size());
  add_rounded_gaussian(noise, {result.data(), static_cast<std::size_t>(result.size())}, unit);
  return Released<Vector>(key, std::move(result), std::move(event));
}

double released_sigma(const SensitivityClaim& claim,
                      double noise_multiplier,
                      std::int64_t dimension) {
  return internal::kGaussianSteps *
         internal::gaussian_unit(claim.sensitivity(), noise_multiplier, dimension);
}

}  // namespace sotto
