#include "sotto/mechanism/joint_gaussian.hpp"

#include <utility>

#include "sotto/core/check.hpp"
#include "sotto/mechanism/grid.hpp"
#include "sotto/mechanism/receipt_check.hpp"
#include "sotto/mechanism/symmetric_gaussian.hpp"
#include "sotto/mechanism/symmetric_noise.hpp"
#include "sotto/random/gaussian.hpp"

namespace sotto {

Released<GradientHessian> JointGaussianMechanism::release(Sensitive<GradientHessian> value,
                                                          Receipt receipt,
                                                          double noise_multiplier,
                                                          Stream& noise) {
  const SensitivityClaim claim = value.claim();
  Event event = claim.sampling().applied_to(Event::gaussian(noise_multiplier, claim.relation()));
  const ReleaseKey key;
  GradientHessian result = std::move(value).open(key);
  SOTTO_CHECK(result.gradient_scale > 0 && result.hessian_scale > 0);
  const std::int64_t coordinates =
      result.gradient.size() + symmetric_coordinates(result.hessian.rows());
  internal::check_receipt(receipt, event, coordinates);

  // The steps are rounded up: the value may move by fewer of them, never by more.
  const double unit =
      internal::gaussian_unit(claim.sensitivity(), noise_multiplier, coordinates) * (1 + 0x1p-50);
  add_rounded_gaussian(noise,
                       {result.gradient.data(), static_cast<std::size_t>(result.gradient.size())},
                       unit * result.gradient_scale);
  internal::add_symmetric_noise(result.hessian, unit * result.hessian_scale, noise);
  return Released<GradientHessian>(key, std::move(result), std::move(event));
}

}  // namespace sotto
