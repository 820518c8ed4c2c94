#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/error.hpp"

namespace sotto {

/// Text that may come from a file or an argument, for a terminal: control characters (but for line
/// breaks and tabs), characters that nobody sees or that turn the order of others round (U+202E and
/// the like), and bytes that are no UTF-8 as \xNN, so that a name can't speak to the terminal.
std::string escaped(std::string_view text);

/// The same for a part of a line, such as a name: line breaks and tabs, too, so that it can't forge
/// a line of its own.
std::string on_one_line(std::string_view text);

/// An error of several lines, each such a part: the only kind whose line breaks are the program's
/// own.
tl::unexpected<Error> fail_with_list(ErrorKind kind, const std::vector<std::string>& lines);

/// The text of a JSON object, with the same characters as \uNNNN: it stays JSON.
std::string escaped_json(std::string_view text);

/// Whether a name holds a control character, or one that ends a line: it could forge a line of a
/// file or of the output.
bool has_control_characters(std::string_view text);

}  // namespace sotto
