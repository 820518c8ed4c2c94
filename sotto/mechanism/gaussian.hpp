#pragma once

#include <cstdint>

#include "sotto/core/vector.hpp"
#include "sotto/privacy/receipt.hpp"
#include "sotto/random/stream.hpp"
#include "sotto/release/released.hpp"
#include "sotto/release/sensitive.hpp"

namespace sotto {

/// Releases a vector with Gaussian noise: gaussian.proof.md.
///
/// The claim's sensitivity is in the Euclidean norm. The event is gaussian(noise_multiplier) under
/// the claim's relation and sampling; the receipt must be for exactly that, with a sample a
/// coordinate. The result lies on the grid of released_sigma x 2^-34, computed without any
/// floating-point operation between noise and grid. Coordinates beyond 2^28 standard deviations
/// saturate there and a NaN counts as 0, before the noise, so the result is always finite.
class GaussianMechanism {
 public:
  /// noise_multiplier > 0, and noise_multiplier x sqrt(dimension) <= 2^33.
  static Released<Vector> release(Sensitive<Vector> value,
                                  Receipt receipt,
                                  double noise_multiplier,
                                  Stream& noise);
};

/// The standard deviation that GaussianMechanism adds to each coordinate: noise_multiplier x
/// sensitivity, and a few parts in 10^8 more for the grid. Public; for reports.
double released_sigma(const SensitivityClaim& claim,
                      double noise_multiplier,
                      std::int64_t dimension);

}  // namespace sotto
