#pragma once

#include <ctime>

namespace sotto::testing_support {

/// Sanitizers make a program slower by a factor that is theirs: limits of time are for what users
/// run.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr double kSlowdown = 20;
#else
inline constexpr double kSlowdown = 1;
#endif

/// Seconds of processor time since it was made, as if no sanitizer was at work.
class ProcessorTime {
 public:
  double seconds() const {
    return static_cast<double>(std::clock() - start_) / CLOCKS_PER_SEC / kSlowdown;
  }

 private:
  std::clock_t start_ = std::clock();
};

}  // namespace sotto::testing_support
