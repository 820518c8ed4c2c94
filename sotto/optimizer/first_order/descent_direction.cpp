#include "sotto/optimizer/first_order/descent_direction.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sotto {

DescentDirection::DescentDirection(const DescentOptions& options, std::int64_t dimension)
    : options_(options), first_(Vector::Zero(dimension)) {
  if (options_.update != Update::kMomentum) second_ = Vector::Zero(dimension);
}

const Vector& DescentDirection::next(const Vector& gradient, double sigma) {
  const double beta = options_.momentum;
  if (options_.update == Update::kMomentum) {
    first_ = beta * first_ + gradient;
    return first_;
  }
  ++t_;
  const double beta2 = options_.second_moment;
  first_ = beta * first_ + (1 - beta) * gradient;
  second_ = beta2 * second_ + (1 - beta2) * gradient.cwiseAbs2();
  const double scale = 1 / (1 - std::pow(beta, static_cast<double>(t_)));
  const double scale2 = 1 / (1 - std::pow(beta2, static_cast<double>(t_)));
  const bool corrected = options_.update == Update::kCorrectedAdam;
  // What is left of a second moment without its noise is uncertain by a few hundredths of the
  // noise's variance.
  const double floor =
      std::max(options_.adam_floor.value_or(corrected ? 0.2 * sigma : 1e-8), 1e-30);
  const double noise = corrected ? sigma * sigma : 0;
  direction_ =
      scale * first_.array() / (scale2 * second_.array() - noise).max(floor * floor).sqrt();
  return direction_;
}

void DescentDirection::archive(Archive& state) {
  state("first moment", first_);
  if (options_.update == Update::kMomentum) return;
  state("second moment", second_)("count", t_, 0, std::numeric_limits<std::int64_t>::max());
}

}  // namespace sotto
