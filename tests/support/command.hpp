#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/support/temp_dir.hpp"
#include "tests/support/words.hpp"

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

/// The built program with these arguments, for a shell.
inline std::string shell_line(const Words& arguments) {
  std::string line = quoted(SOTTO_BINARY);
  for (const auto& argument : arguments) line += " " + quoted(argument);
  return line;
}

/// Runs a script in a shell. `script` makes it from the words that redirect both outputs to where
/// they are read: " >OUT 2>ERR".
template <class Script>
CommandResult in_a_shell(const Script& script) {
  const TempDir dir;
  const int status =
      std::system(script(" >" + quoted(dir.file("out")) + " 2>" + quoted(dir.file("err"))).c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          TempDir::read(dir.file("out")),
          TempDir::read(dir.file("err"))};
}

/// Runs the built program; `shell_prefix` may set limits, e.g. "ulimit -v 1000000;".
inline CommandResult sotto(const Words& arguments, const std::string& shell_prefix = "") {
  return in_a_shell([&](const std::string& redirected) {
    return shell_prefix + " " + shell_line(arguments) + redirected + " </dev/null";
  });
}

/// A program of this name that does what the text of a shell says, as the only one in a folder: for
/// PATH.
inline std::string made_up_program(const TempDir& dir,
                                   const std::string& name,
                                   const std::string& text) {
  const std::string folder = dir.file("bin");
  std::filesystem::create_directories(folder);
  std::filesystem::permissions(dir.write("bin/" + name, "#!/bin/sh\n" + text),
                               std::filesystem::perms::owner_all);
  return folder;
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

/// Trains dp-sgd, by a noise multiplier, on rows.svm of this folder.
inline Words short_training(const TempDir& dir,
                            const Words& more = {},
                            const std::string& model = "model.json") {
  return "train --method dp-sgd --delta 1e-5 --dim 2 --row-norm 1.5 --noise-multiplier 3 "
         "--threads 1" +
         more + Words{dir.write("rows.svm", small_libsvm()), dir.file(model)};
}

}  // namespace sotto::testing
