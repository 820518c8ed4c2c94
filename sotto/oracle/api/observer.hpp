#pragma once

#include <cstdint>

#include "sotto/core/vector.hpp"

namespace sotto {

/// One step, as far as anybody may see it: public numbers and released values only.
struct StepReport {
  std::int64_t step = 0;   ///< finished steps
  std::int64_t steps = 0;  ///< planned steps
  double step_size = 0;
  double gradient_norm = 0;  ///< of the released (noisy) gradient plus the regularizer's
  const Vector* iterate = nullptr;
  double passes = 0;  ///< expected passes over the data so far; filled in by train()
};

/// Watches a run. It may stop it early, which is always private: it only sees what was released.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual bool keep_going(const StepReport& report) = 0;
};

/// For callers that don't care.
class NoObserver : public Observer {
 public:
  bool keep_going(const StepReport&) override { return true; }
};

}  // namespace sotto
