#include "sotto/optimizer/parts/schedule.hpp"

#include <cmath>
#include <numbers>

namespace sotto {

double StepSchedule::operator()(std::int64_t step) const {
  const double done = static_cast<double>(step) / static_cast<double>(steps_);
  switch (kind_) {
    case Schedule::kConstant:
      return base_;
    case Schedule::kLinear:
      return base_ * (1 - done);
    case Schedule::kCosine:
      return base_ * (1 + std::cos(std::numbers::pi * done)) / 2;
    case Schedule::kInverseSqrt:
      return base_ / std::sqrt(static_cast<double>(step) + 1);
  }
  return base_;
}

}  // namespace sotto
