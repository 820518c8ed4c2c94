#pragma once

#include "sotto/privacy/receipt.hpp"
#include "sotto/random/stream.hpp"
#include "sotto/release/released.hpp"
#include "sotto/release/sensitive.hpp"

namespace sotto {

/// Releases one number with Laplace noise of scale noise_multiplier x sensitivity:
/// laplace.proof.md.
///
/// The event is laplace(noise_multiplier) under the claim's relation and sampling, with one sample.
/// The result lies on a grid of 2^-30 scales. Values beyond 2^32 scales saturate there and a NaN
/// counts as 0, before the noise.
class LaplaceMechanism {
 public:
  /// 0 < noise_multiplier <= 2^28.
  static Released<double> release(Sensitive<double> value,
                                  Receipt receipt,
                                  double noise_multiplier,
                                  Stream& noise);
};

}  // namespace sotto
