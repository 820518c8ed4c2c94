#pragma once

#include <atomic>
#include <chrono>
#include <string>

#include "sotto/oracle/api/observer.hpp"

namespace sotto::app {

/// A progress line on a terminal: steps, time left, share of the planned releases that is spent.
/// All of it is public. Silent where standard error is not a terminal, or when asked to be. Also
/// turns ^C into an early stop.
class Progress final : public Observer {
 public:
  Progress(std::string name, bool quiet);
  ~Progress() override;

  bool keep_going(const StepReport& report) override;
  /// Ends the line; idempotent.
  void finish();

  static bool interrupted();

 private:
  std::string name_;
  bool shows_;
  bool line_open_ = false;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace sotto::app
