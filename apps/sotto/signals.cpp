#include "signals.hpp"

#include <csignal>

#include "sotto/core/file.hpp"
#include "sotto/core/stop.hpp"

namespace sotto::app {
namespace {

void on_signal(int signal) {
  if (!stop_requested()) {
    request_stop();
    return;
  }
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
