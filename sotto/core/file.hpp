#pragma once

#include <string>
#include <string_view>

#include "sotto/core/error.hpp"

namespace sotto {

/// Writes a whole file: to a temporary one beside it, synced, then renamed, so that `path` holds
/// either what it held before or all of `content`.
Expected<void> write_file_atomically(const std::string& path, std::string_view content);

/// Succeeds if write_file_atomically(path, …) can be expected to: called before a run starts, so
/// that a wrong path costs no budget.
Expected<void> check_writable(const std::string& path);

Expected<std::string> read_text_file(const std::string& path);

}  // namespace sotto
