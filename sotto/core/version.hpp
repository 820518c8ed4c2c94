#pragma once

namespace sotto {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace sotto
