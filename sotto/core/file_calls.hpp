#pragma once

// What files and logs share beneath core/file.hpp: whole reads and writes, what a failed call
// means, and whose the names on a path are.

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "sotto/core/error.hpp"

namespace sotto {

tl::unexpected<Error> io_error(std::string message);

/// What a failed call means: the program was asked to end, or the file can't be used.
tl::unexpected<Error> failure(int error, const std::string& message);
tl::unexpected<Error> cannot_write(const std::string& path, int error);
tl::unexpected<Error> of_another_user(const std::string& path, const char* what);

/// 0 or an error. `stream`: where nobody may be reading; somebody who asks for the end is then not
/// kept waiting.
int write_all(int file, std::string_view bytes, bool stream = false);
/// What is left of the file, if that is no more than `most_bytes`.
Expected<std::string> read_all(int file, const std::string& path, std::int64_t most_bytes);

/// Makes the names in the path's folder last; 0 or an error.
int sync_folder_of(const std::string& path);

bool is_ours(const struct stat& facts);
/// Refuses a path if a link of another user stands anywhere on the way that it leads: its folders,
/// too, and what our own links lead to.
Expected<void> check_way(const std::string& path);

}  // namespace sotto
