#include "sotto/optimizer/parts/schedule.hpp"

#include <cmath>
#include <numbers>
#include <utility>

#include "sotto/core/check.hpp"

namespace sotto {

StepSchedule::StepSchedule(std::string name, double base, std::int64_t steps)
    : name_(std::move(name)), base_(base), steps_(steps) {}

double StepSchedule::operator()(std::int64_t step) const {
  const double done = static_cast<double>(step) / static_cast<double>(steps_);
  if (name_ == "constant") return base_;
  if (name_ == "linear") return base_ * (1 - done);
  if (name_ == "cosine") return base_ * (1 + std::cos(std::numbers::pi * done)) / 2;
  SOTTO_CHECK(name_ == "inverse_sqrt");
  return base_ / std::sqrt(static_cast<double>(step) + 1);
}

}  // namespace sotto
