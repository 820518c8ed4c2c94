#pragma once

#include <cstdint>

#include "sotto/core/archive.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/vector.hpp"

namespace sotto {

/// One step, as far as anybody may see it: public numbers and released values only.
struct StepReport {
  std::int64_t step = 0;   ///< finished steps
  std::int64_t steps = 0;  ///< planned steps
  double step_size = 0;
  double gradient_norm = 0;  ///< of the released (noisy) gradient plus the regularizer's
  const Vector* iterate = nullptr;
  // Filled in by train():
  double passes = 0;    ///< expected passes over the data so far
  double examples = 0;  ///< rows visited so far, by expected batch sizes
};

/// Watches a run. It may stop it early, which is always private, for it only sees what was
/// released, and for the same reason makes nothing cheaper (privacy/promise.proof.md).
class Observer {
 public:
  virtual ~Observer() = default;
  /// Called once, before the first step, by every method (optimizer/parts/steps.hpp), so that its
  /// runs can be continued. `state` visits all that the run carries from one step to the next,
  /// stays valid until the run ends, and is complete whenever keep_going() is called. May load an
  /// earlier run's state, with which the run then goes on.
  virtual Expected<void> begin(Archived state) {
    static_cast<void>(state);
    return {};
  }
  virtual bool keep_going(const StepReport& report) = 0;
};

/// For callers that don't care.
class NoObserver : public Observer {
 public:
  bool keep_going(const StepReport&) override { return true; }
};

}  // namespace sotto
