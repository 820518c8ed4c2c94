#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <string>

#include "sotto/oracle/api/observer.hpp"
#include "sotto/report/live_view.hpp"

namespace sotto::app {

/// A live view on a terminal: steps, time left, epsilon spent, examples a second, the norms of
/// released gradients. All of it is public. Silent where standard error is not a terminal,
/// or when asked to be; one line where the terminal can't do more. Also turns ^C into an early
/// stop.
class Progress final : public Observer {
 public:
  Progress(std::string name, bool quiet, bool is_private = true);
  ~Progress() override;

  bool keep_going(const StepReport& report) override;
  /// Ends the view; idempotent.
  void finish();

  static bool interrupted();

 private:
  void draw();
  std::optional<double> epsilon(const StepReport& report,
                                std::chrono::steady_clock::time_point now);

  LiveView view_;
  bool shows_;
  std::size_t open_lines_ = 0;  ///< drawn, with the cursor in the last of them
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point last_;
  std::chrono::steady_clock::time_point next_epsilon_{};
};

}  // namespace sotto::app
