#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace sotto {

// The library does not know how its users write an option: `--row-norm 1` on the command line,
// `row_norm=1` in a program. Its messages name one in marks, with the value that is meant if there
// is one: "Give ‘row_norm’, or use ‘clip_rule flat’." Front ends spell out what stands in them.

/// ‘name’.
std::string marked(std::string_view name);

/// The text with every marked option as `spell(name, value)` has it; `value` is empty if none was.
std::string with_options(
    std::string_view text,
    const std::function<std::string(std::string_view name, std::string_view value)>& spell);

/// `--row-norm` for row_norm.
std::string flag_of(std::string_view name);
/// As the command line has them, and all files: `Give --row-norm, or use --clip-rule flat.`
std::string with_flags(std::string_view text);

}  // namespace sotto
