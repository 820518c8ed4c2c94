#pragma once

#include <cstdint>

#include "sotto/core/names.hpp"

namespace sotto {

/// How a step size falls: linear and cosine to zero, inverse_sqrt as base / sqrt(t + 1).
enum class Schedule { kConstant, kLinear, kCosine, kInverseSqrt };
inline constexpr Named<Schedule> kSchedules[] = {{Schedule::kConstant, "constant"},
                                                 {Schedule::kLinear, "linear"},
                                                 {Schedule::kCosine, "cosine"},
                                                 {Schedule::kInverseSqrt, "inverse_sqrt"}};

/// The step size as a function of time; public, fixed in advance.
class StepSchedule {
 public:
  StepSchedule(Schedule kind, double base, std::int64_t steps)
      : kind_(kind), base_(base), steps_(steps) {}

  double operator()(std::int64_t step) const;

 private:
  Schedule kind_;
  double base_;
  std::int64_t steps_;
};

}  // namespace sotto
