#pragma once

// All that the program says. Nothing here throws: a closed terminal or a full disk must not end a
// run whose budget is spent. What could not be printed on standard output is known at the end.

#include <fmt/format.h>

#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <utility>

namespace sotto::app {

/// Standard output: results. What a file's text could do to a terminal is made visible
/// (core/text.hpp), here and below.
void print_text(std::string_view text);
/// Standard error: notes, warnings, errors. Where it can't be written, nothing can be said.
void say_text(std::string_view text);
/// The program's own text, with what moves a terminal's cursor.
void say_to_terminal(std::string_view text) noexcept;

template <class... Arguments>
void tell(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  print_text(fmt::format(format, std::forward<Arguments>(arguments)...));
}

template <class... Arguments>
void say(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  say_text(fmt::format(format, std::forward<Arguments>(arguments)...));
}

/// One object for machines, on standard output.
void print_json(const nlohmann::json& value, int indent = -1);

/// Flushes standard output. False if something that was printed there is lost.
bool flush_printed() noexcept;

}  // namespace sotto::app
