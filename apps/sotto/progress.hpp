#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <string>

#include "sotto/oracle/api/observer.hpp"
#include "sotto/report/live_view.hpp"

namespace sotto::app {

/// A live view on a terminal: steps, the run's price, the norms of released gradients, time left
/// and examples per second. The last two depend on the rows: they are for the eyes of whoever runs
/// it, and no file gets them. Silent where standard error is not a terminal, or when asked to be;
/// one line where the terminal can't do more. Also stops a run after a signal (signals.hpp).
class Progress final : public Observer {
 public:
  /// `epsilon`: what the run costs, however early it stops; none: it is not private.
  /// `seeded`: by a known seed.
  Progress(std::string name, bool quiet, std::optional<double> epsilon = {}, bool seeded = false);
  ~Progress() override;

  bool keep_going(const StepReport& report) override;
  /// Ends the view; idempotent.
  void finish();

 private:
  void draw();

  LiveView view_;
  bool shows_;
  std::size_t open_lines_ = 0;  ///< drawn, with the cursor in the last of them
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace sotto::app
