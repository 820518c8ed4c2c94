#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/words.hpp"

namespace sotto::testing {

/// Starts a program that the test will send signals to. Its stderr goes to the file `err`, if
/// given.
inline pid_t started(const Words& program_and_arguments, const std::string& err = "") {
  std::vector<char*> words;
  for (const auto& word : program_and_arguments) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const pid_t child = ::fork();
  if (child != 0) return child;
  if (!err.empty() && std::freopen(err.c_str(), "w", stderr) == nullptr) ::_exit(99);
  ::execvp(words[0], words.data());
  ::_exit(98);
}

/// Exit code, or 1000 + the signal that it died of.
inline int ended(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/// Asks every few milliseconds, for a minute: a program under a sanitizer beside other work is
/// slow.
template <class Condition>
bool wait_until(const Condition& holds) {
  using namespace std::chrono_literals;
  for (int k = 0; k < 12'000; ++k) {
    if (holds()) return true;
    std::this_thread::sleep_for(5ms);
  }
  return false;
}

inline bool wait_for_file(const std::string& path) {
  return wait_until([&] { return std::filesystem::exists(path); });
}

/// A line of /proc/PID/status, e.g. "SigCgt".
inline std::string status_of(pid_t child, const std::string& name) {
  std::ifstream file("/proc/" + std::to_string(child) + "/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name + ":")) return line.substr(name.size() + 2);
  return "";
}

/// Until the child has a handler for the signal.
inline bool wait_for_handler(pid_t child, int number) {
  return wait_until([&] {
    const std::string caught = status_of(child, "SigCgt");
    return !caught.empty() && (std::stoull(caught, nullptr, 16) >> (number - 1) & 1) != 0;
  });
}

/// Until the child waits for something, twice in a row.
inline bool wait_for_sleep(pid_t child) {
  int seen = 0;
  return wait_until([&] {
    seen = status_of(child, "State").starts_with("S") ? seen + 1 : 0;
    return seen == 2;
  });
}

}  // namespace sotto::testing
