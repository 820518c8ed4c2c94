#pragma once

#include <string>
#include <string_view>

namespace sotto {

/// Text that may come from a file or an argument, for a terminal: control characters (but for line
/// breaks and tabs) and bytes that are no UTF-8 as \xNN, so that a name can't speak to the
/// terminal.
std::string escaped(std::string_view text);

/// Whether a name holds a control character: it could forge a line of a file or of the output.
bool has_control_characters(std::string_view text);

}  // namespace sotto
