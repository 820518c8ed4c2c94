#pragma once

#include <cstdint>
#include <string>

#include "sotto/core/error.hpp"

namespace sotto {

/// The step size as a function of time; public, fixed in advance.
class StepSchedule {
 public:
  /// Names: `constant`; `linear`, falling to zero; `cosine`, falling to zero; `inverse_sqrt`,
  /// base / sqrt(t + 1).
  StepSchedule(std::string name, double base, std::int64_t steps);

  double operator()(std::int64_t step) const;

  static constexpr const char* kNames[] = {"constant", "linear", "cosine", "inverse_sqrt"};

 private:
  std::string name_;
  double base_;
  std::int64_t steps_;
};

}  // namespace sotto
