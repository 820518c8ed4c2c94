#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <utility>

namespace sotto::app {
namespace {

volatile std::sig_atomic_t interrupt_seen = 0;
void on_interrupt(int) { interrupt_seen = 1; }

}  // namespace

Progress::Progress(std::string name, bool quiet)
    : name_(std::move(name)),
      shows_(!quiet && ::isatty(STDERR_FILENO) == 1),
      begin_(std::chrono::steady_clock::now()),
      last_(begin_) {
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
}

Progress::~Progress() {
  finish();
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool Progress::keep_going(const StepReport& report) {
  const auto now = std::chrono::steady_clock::now();
  if (shows_ && (now - last_ > std::chrono::milliseconds(100) || report.step == report.steps)) {
    last_ = now;
    line_open_ = true;
    const double elapsed = std::chrono::duration<double>(now - begin_).count();
    const auto done = static_cast<double>(report.step);
    const auto all = static_cast<double>(report.steps);
    fmt::print(stderr,
               "\r{}: step {}/{}, {:.1f} s left, {:.0f}% of the planned releases spent \x1b[K",
               name_,
               report.step,
               report.steps,
               elapsed * (all - done) / done,
               100 * done / all);
    std::fflush(stderr);
  }
  return interrupt_seen == 0;
}

void Progress::finish() {
  if (std::exchange(line_open_, false)) fmt::print(stderr, "\n");
}

bool Progress::interrupted() { return interrupt_seen != 0; }

}  // namespace sotto::app
