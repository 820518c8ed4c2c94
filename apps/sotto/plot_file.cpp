#include "plot_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "sotto/core/file.hpp"
#include "sotto/core/file_system.hpp"
#include "sotto/core/stop.hpp"
#include "sotto/report/gnuplot.hpp"

extern char** environ;

namespace sotto::app {
namespace {

/// Where a shell would find the program; empty if nowhere.
std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path ? path : "";
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    const std::string candidate = std::string(rest.substr(0, colon)) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return "";
}

tl::unexpected<Error> cannot_run(int error) {
  return fail(ErrorKind::kIo, fmt::format("gnuplot can't be run: {}.", std::strerror(error)));
}

/// The text as a file without a name, to be read from its beginning. Not a pipe: gnuplot may draw
/// before it has read everything, and both would wait for each other.
Expected<OpenFile> nameless_file(std::string_view text) {
  OpenFile file(::memfd_create("script", MFD_CLOEXEC));
  if (file.descriptor() < 0) return cannot_run(errno);
  while (!text.empty()) {
    const ssize_t written =
        retried([&] { return ::write(file.descriptor(), text.data(), text.size()); });
    if (written <= 0) return cannot_run(written < 0 ? errno : ENOSPC);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::lseek(file.descriptor(), 0, SEEK_SET) != 0) return cannot_run(errno);
  return file;
}

/// All that comes out of the pipe until its other end is closed.
Expected<std::string> read_to_the_end(int pipe) {
  std::string bytes;
  std::array<char, 1 << 16> buffer;
  for (;;) {
    const ssize_t got = retried([&] { return ::read(pipe, buffer.data(), buffer.size()); });
    if (got == 0) return bytes;
    if (got < 0 && errno == EINTR) return stopped_early();
    if (got < 0) return cannot_run(errno);
    bytes.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

/// Starts gnuplot, found as `program`; 0 or an error.
int start(const std::string& program, int input, int output, pid_t& child) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  // Who stops reading must end it: this program's own way with broken pipes is not for others.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  std::string name = "gnuplot";
  std::array<char*, 2> words = {name.data(), nullptr};
  const int error =
      ::posix_spawn(&child, program.c_str(), &actions, &attributes, words.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  return error;
}

/// What gnuplot prints for the script.
Expected<std::string> drawn(const std::string& script) {
  SOTTO_ASSIGN(const OpenFile input, nameless_file(script));
  std::array<int, 2> ends = {-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return cannot_run(errno);
  OpenFile ours(ends[0]);
  OpenFile theirs(ends[1]);
  pid_t child = 0;
  if (const int error =
          start(find_program("gnuplot"), input.descriptor(), theirs.descriptor(), child))
    return cannot_run(error);
  theirs.close();
  auto bytes = read_to_the_end(ours.descriptor());
  ours.close();
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!bytes) return bytes;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return bytes;
  return fail(ErrorKind::kIo, "gnuplot failed; see its message.");
}

}  // namespace

Expected<void> check_plot(const std::string& path) {
  SOTTO_TRY(check_plot_path(path));
  if (find_program("gnuplot").empty())
    return fail(ErrorKind::kUsage,
                "--plot needs gnuplot, which is not installed. Install it (Debian: apt install "
                "gnuplot-nox), or use --report, which needs nothing.");
  return check_writable(path);
}

Expected<void> write_plot(const std::vector<Chart>& charts, const std::string& path) {
  SOTTO_ASSIGN(const std::string script, gnuplot_script(charts, path));
  const auto drawing = drawn(script);
  if (!drawing)
    return fail(drawing.error().kind,
                fmt::format("{} is not drawn: {}", path, drawing.error().message));
  if (!is_whole_drawing(*drawing, path))
    return fail(
        ErrorKind::kIo,
        fmt::format("{} is not drawn: gnuplot stopped before its end and gave no reason.", path));
  return write_file_atomically(path, *drawing);
}

}  // namespace sotto::app
