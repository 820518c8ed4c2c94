#pragma once

#include <cstdint>

#include "sotto/core/vector.hpp"
#include "sotto/privacy/receipt.hpp"
#include "sotto/random/stream.hpp"
#include "sotto/release/released.hpp"
#include "sotto/release/sensitive.hpp"

namespace sotto {

/// Releases a symmetric matrix with noise scaled like the Gaussian orthogonal ensemble: variance
/// s^2 on the diagonal, s^2 / 2 off it, symmetric_gaussian.proof.md.
///
/// The claim's sensitivity is in the Frobenius norm; s = noise_multiplier x sensitivity (and the
/// grid's part, as in GaussianMechanism). The event is gaussian(noise_multiplier) under the claim's
/// relation and sampling, with d (d + 1) / 2 samples. Only the lower triangle is read; the result
/// is symmetric to the last bit.
class SymmetricGaussianMechanism {
 public:
  static Released<Matrix> release(Sensitive<Matrix> value,
                                  Receipt receipt,
                                  double noise_multiplier,
                                  Stream& noise);
};

/// d (d + 1) / 2: coordinates, and noise samples, of a symmetric d x d matrix.
inline std::int64_t symmetric_coordinates(std::int64_t d) { return d * (d + 1) / 2; }

}  // namespace sotto
