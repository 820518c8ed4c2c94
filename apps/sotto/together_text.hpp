#pragma once

#include <string>

#include "sotto/privacy/together.hpp"

namespace sotto::app {

inline constexpr const char* kIfPlanned =
    "It holds if the runs were planned together. It is no guarantee for a run that somebody chose "
    "after looking at an earlier one's results.";
inline constexpr const char* kIfLimited =
    "It holds if no run was begun that took the sum beyond a limit set before the first.";

/// `epsilon 1.4 at delta 1e-6 (zero-out), 2 runs`.
std::string joint_text(const TogetherPrice& together);
/// `epsilon <= 2 at delta 2e-6`: also for runs that somebody chose after looking.
std::string sum_text(const TogetherPrice& together);
/// Why the joint price is no less, and what would make it; empty where plans were composed.
std::string samplers_text(const TogetherPrice& together);

}  // namespace sotto::app
