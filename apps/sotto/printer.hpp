#pragma once

// All that the program says. Nothing here throws: a closed terminal or a full disk must not end a
// run whose budget is spent. What could not be printed on standard output is known at the end.

#include <fmt/format.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <type_traits>

#include "sotto/core/error.hpp"
#include "sotto/core/text.hpp"

namespace sotto::app {

/// Standard output: results. What a file's text could do to a terminal is made visible
/// (core/text.hpp), here and below. Lines may break: for text that the program has made as a whole.
void print_text(std::string_view text);
/// Standard error: notes, warnings, errors, with options as flags (core/option_names.hpp). Where it
/// can't be written, nothing can be said.
void say_text(std::string_view text);
/// The program's own text, with what moves a terminal's cursor.
void say_to_terminal(std::string_view text) noexcept;

/// A text argument, which may come from a file, as a part of one line; a number as it is. Nothing
/// else is printed, so that no text gets round this.
template <class T>
decltype(auto) shown(const T& argument) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return on_one_line(argument);
  } else {
    static_assert(std::is_arithmetic_v<T>, "make a text of it first");
    return (argument);
  }
}

template <class... Shown>
std::string filled_in(fmt::string_view format, const Shown&... arguments) {
  return fmt::vformat(format, fmt::make_format_args(arguments...));
}

/// Only the format itself breaks lines.
template <class... Arguments>
void tell(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  print_text(filled_in(format, shown(arguments)...));
}

template <class... Arguments>
void say(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  say_text(filled_in(format, shown(arguments)...));
}

/// `sotto: ` and an error's message.
void say_error(const Error& error);

/// One object for machines, on standard output; for people, what is not seen is spelled out.
void print_json(const nlohmann::json& value, int indent = -1);
/// The same of an object's text.
void print_json_text(std::string_view text);

/// While it lives, results are said on standard error: the file that is written goes to standard
/// output.
class ResultsOnStandardError {
 public:
  ResultsOnStandardError() noexcept;
  ResultsOnStandardError(const ResultsOnStandardError&) = delete;
  ResultsOnStandardError& operator=(const ResultsOnStandardError&) = delete;
  ~ResultsOnStandardError();
};

/// Flushes standard output. False if something that was printed there is lost.
bool flush_printed() noexcept;

}  // namespace sotto::app
