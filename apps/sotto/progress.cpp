#include "progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "printer.hpp"
#include "sotto/core/stop.hpp"

namespace sotto::app {
namespace {

constexpr std::size_t kNarrowest = 50;

std::size_t terminal_width() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

bool speaks_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (const char* value = std::getenv(name); value && *value) {
      const std::string_view locale(value);
      return locale.ends_with("UTF-8") || locale.ends_with("utf8") || locale.ends_with("utf-8");
    }
  return false;
}

/// Whether the terminal can move its cursor up.
bool moves_up() {
  const char* terminal = std::getenv("TERM");
  return terminal && *terminal && std::string_view(terminal) != "dumb";
}

}  // namespace

Progress::Progress(std::string name, bool quiet, std::optional<double> epsilon, bool seeded)
    : view_(std::move(name), epsilon, seeded),
      shows_(!quiet && ::isatty(STDERR_FILENO) == 1),
      begin_(std::chrono::steady_clock::now()),
      last_(begin_) {}

Progress::~Progress() { finish(); }

bool Progress::keep_going(const StepReport& report) {
  if (!shows_) return !stop_requested();
  const auto now = std::chrono::steady_clock::now();
  view_.step(report.step,
             report.steps,
             report.step_size,
             report.gradient_norm,
             report.passes,
             std::chrono::duration<double>(now - begin_).count(),
             report.examples);
  if (now - last_ > std::chrono::milliseconds(100) || report.step == report.steps) {
    last_ = now;
    draw();
  }
  return !stop_requested();
}

void Progress::draw() {
  const std::size_t width = terminal_width();
  // The last column stays empty: some terminals wrap when it is written.
  std::vector<std::string> lines = view_.lines(std::max(width, kNarrowest) - 1, speaks_utf8());
  if (width < kNarrowest || !moves_up()) lines.resize(1);
  std::string text = "\r";
  if (open_lines_ > 1) text += fmt::format("\x1b[{}A", open_lines_ - 1);
  for (std::size_t k = 0; k < lines.size(); ++k) text += (k > 0 ? "\n" : "") + lines[k] + "\x1b[K";
  open_lines_ = lines.size();
  say_to_terminal(text);
}

void Progress::finish() {
  if (std::exchange(open_lines_, 0) > 0) say("\n");
}

}  // namespace sotto::app
