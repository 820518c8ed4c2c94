#pragma once

#include <string>

#include "sotto/core/error.hpp"
#include "sotto/core/file.hpp"

namespace sotto {

/// Makes an empty file unless there is something of this name, which is left as it is: nothing that
/// another program makes at the same moment is replaced.
Expected<void> make_file(const std::string& path, FileAccess access);

}  // namespace sotto
