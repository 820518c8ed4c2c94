#pragma once

#include "sotto/core/vector.hpp"
#include "sotto/privacy/receipt.hpp"
#include "sotto/random/stream.hpp"
#include "sotto/release/released.hpp"
#include "sotto/release/sensitive.hpp"

namespace sotto {

/// A gradient g and a symmetric Hessian H, measured together by
/// ||(g, H)||^2 = ||g||^2 / gradient_scale^2 + ||H||_F^2 / hessian_scale^2. The scales are public
/// and positive; their ratio decides how the noise is shared (algorithms.md 2.4).
struct GradientHessian {
  Vector gradient;
  Matrix hessian;
  double gradient_scale = 1;
  double hessian_scale = 1;
};

/// Releases a gradient and a Hessian as one Gaussian mechanism: joint_gaussian.proof.md.
///
/// The claim's sensitivity D is in the norm above. Noise: standard deviation
/// noise_multiplier x D x gradient_scale on the gradient, and GOE noise
/// (SymmetricGaussianMechanism) with noise_multiplier x D x hessian_scale on the Hessian. One
/// event, gaussian(noise_multiplier) under the claim's relation and sampling, with d + d (d + 1) /
/// 2 samples.
class JointGaussianMechanism {
 public:
  static Released<GradientHessian> release(Sensitive<GradientHessian> value,
                                           Receipt receipt,
                                           double noise_multiplier,
                                           Stream& noise);
};

}  // namespace sotto
