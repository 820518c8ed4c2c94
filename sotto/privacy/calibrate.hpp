#pragma once

#include <cstdint>
#include <functional>

#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/event.hpp"

namespace sotto {

struct Target {
  double epsilon;
  double delta;
};

/// A family of events with one free parameter, e.g. the noise multiplier of a plan.
using EventFamily = std::function<Event(double)>;
/// One in which not every number gives an event: what fails ends a calibration, with its error.
using PartialEventFamily = std::function<Expected<Event>(double)>;

/// The smallest noise multiplier z, to 1e-6 relative, for which family(z) meets the target by the
/// accountant's *upper* bound; `family` must get more private as z grows. Accountant null: the
/// tightest one that supports the family. A target that no noise can meet is a budget error. Needs
/// about ten calls of the accountant.
Expected<double> calibrate_noise(const PartialEventFamily& family,
                                 const Target& target,
                                 const Accountant* accountant = nullptr);

enum class Privacy { kGrowsWithParameter, kShrinksWithParameter };

/// The extreme value in [low, high], to 1e-6 relative, that meets the target: the smallest one
/// where privacy grows with the parameter, the largest one where it shrinks (e.g. a sampling rate).
/// Needs 0 < low <= high < infinity. A budget error if no value in the range meets the target.
Expected<double> calibrate_parameter(const PartialEventFamily& family,
                                     double low,
                                     double high,
                                     Privacy privacy,
                                     const Target& target,
                                     const Accountant* accountant = nullptr);

/// The largest parameter in [low, high] (integers, e.g. a number of steps) that meets the target;
/// `family` must get less private as it grows. A budget error if even `low` does not.
Expected<std::int64_t> calibrate_count(const std::function<Event(std::int64_t)>& family,
                                       std::int64_t low,
                                       std::int64_t high,
                                       const Target& target,
                                       const Accountant* accountant = nullptr);

}  // namespace sotto
