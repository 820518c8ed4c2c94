#pragma once

namespace sotto {

inline constexpr const char* kVersion = "0.2.0";

}  // namespace sotto
