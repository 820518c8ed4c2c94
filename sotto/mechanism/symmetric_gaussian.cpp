#include "sotto/mechanism/symmetric_gaussian.hpp"

#include <utility>

#include "sotto/mechanism/grid.hpp"
#include "sotto/mechanism/receipt_check.hpp"
#include "sotto/mechanism/symmetric_noise.hpp"

namespace sotto {

Released<Matrix> SymmetricGaussianMechanism::release(Sensitive<Matrix> value,
                                                     Receipt receipt,
                                                     double noise_multiplier,
                                                     Stream& noise) {
  const SensitivityClaim claim = value.claim();
  Event event = claim.sampling().applied_to(Event::gaussian(noise_multiplier, claim.relation()));
  const ReleaseKey key;
  Matrix result = std::move(value).open(key);
  const std::int64_t coordinates = symmetric_coordinates(result.rows());
  internal::check_receipt(receipt, event, coordinates);
  const double unit = internal::gaussian_unit(claim.sensitivity(), noise_multiplier, coordinates);
  internal::add_symmetric_noise(result, unit, noise);
  return Released<Matrix>(key, std::move(result), std::move(event));
}

}  // namespace sotto
