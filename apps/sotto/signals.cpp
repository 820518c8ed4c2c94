#include "signals.hpp"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>

#include "sotto/core/file.hpp"
#include "sotto/core/stop.hpp"

namespace sotto::app {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// When somebody first asked, in nanoseconds of a clock that never goes back.
std::atomic<std::int64_t> asked_at{0};
static_assert(std::atomic<std::int64_t>::is_always_lock_free, "a signal's handler may not wait");

std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);  // safe in a signal's handler
  return time.tv_sec * kSecond + time.tv_nsec;
}

/// Whoever signals again is impatient, unless it is the same request: `timeout`, for example,
/// signals the program and then its whole group, in which the program is, too.
void on_signal(int signal) {
  if (!stop_requested()) {
    asked_at = now();
    request_stop();
    return;
  }
  if (now() - asked_at < kSecond) return;
  remove_temporary_files();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

void install_signals() {
  // nohup has the program ignore the end of its terminal.
  const auto stays_ignored = [](int signal) {
    struct sigaction inherited {};
    return signal == SIGHUP && sigaction(signal, nullptr, &inherited) == 0 &&
           inherited.sa_handler == SIG_IGN;
  };
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = 0;  // no restart: a call that waits for a pipe must return
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGUSR1})
    if (!stays_ignored(signal)) sigaction(signal, &action, nullptr);
  action.sa_handler = SIG_IGN;
  for (const int signal : {SIGPIPE, SIGXFSZ}) sigaction(signal, &action, nullptr);
}

}  // namespace sotto::app
