#pragma once

#include <cstdint>

#include "sotto/core/vector.hpp"
#include "sotto/optimizer/first_order/noisy_descent.hpp"

namespace sotto {

/// Turns noisy gradients into a direction: heavy-ball momentum, Adam [KB15], or Adam with the
/// noise's variance taken out of the second moment [TSL24]. Post-processing.
class DescentDirection {
 public:
  DescentDirection(const DescentOptions& options, std::int64_t dimension);

  /// `sigma`: the standard deviation of the noise on each entry, public.
  const Vector& next(const Vector& gradient, double sigma);

  void archive(Archive& state);

 private:
  const DescentOptions& options_;
  std::int64_t t_ = 0;
  Vector first_;   ///< momentum, or Adam's first moment
  Vector second_;  ///< Adam's second moment
  Vector direction_;
};

}  // namespace sotto
