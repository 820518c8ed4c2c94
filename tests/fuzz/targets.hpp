#pragma once

// Everything that parses what a user, a file or a stranger wrote. Each target takes any bytes: it
// may refuse them, but not crash, hang, or take memory without limit.

#include <map>
#include <string>
#include <string_view>

namespace sotto::fuzz {

using Target = void (*)(std::string_view input);

const std::map<std::string, Target>& targets();

}  // namespace sotto::fuzz
