#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/support/temp_dir.hpp"

namespace sotto::testing {

struct CommandResult {
  int code = -1;
  std::string out;
  std::string err;
};

inline std::string quoted(const std::string& text) {
  std::string result(1, '\'');
  for (const char c : text) {
    if (c == '\'') result.append("'\\'");
    result.push_back(c);
  }
  result.push_back('\'');
  return result;
}

/// Runs the built program; `shell_prefix` may set limits, e.g. "ulimit -v 1000000;".
inline CommandResult sotto(const std::vector<std::string>& arguments,
                           const std::string& shell_prefix = "") {
  const TempDir dir;
  std::string line = shell_prefix + " " + quoted(SOTTO_BINARY);
  for (const auto& argument : arguments) line += " " + quoted(argument);
  line += " >" + quoted(dir.file("out")) + " 2>" + quoted(dir.file("err")) + " </dev/null";
  const int status = std::system(line.c_str());
  CommandResult result;
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = TempDir::read(dir.file("out"));
  result.err = TempDir::read(dir.file("err"));
  return result;
}

/// Separable rows in LIBSVM text: n of them, two features.
inline std::string small_libsvm(int n = 200) {
  std::string text;
  for (int i = 0; i < n; ++i) {
    const double angle = 0.1 * i;
    const bool positive = i % 2 == 0;
    text.append(positive ? "+1 1:0.8 2:" : "-1 1:-0.7 2:");
    text.append(std::to_string(0.1 * (angle - static_cast<int>(angle))));
    text.push_back('\n');
  }
  return text;
}

}  // namespace sotto::testing
