#pragma once

#include <cstdint>

namespace sotto {

/// A number that was counted in private data: rows, units. Engines compute with it as with any
/// integer; nothing can print it, and what is public can't be made from it by accident
/// (privacy/public_count.hpp, tests/compile_fail).
class PrivateCount {
 public:
  constexpr PrivateCount(std::int64_t value) : value_(value) {}  // NOLINT: counts become private
  constexpr operator std::int64_t() const { return value_; }     // NOLINT: for arithmetic

 private:
  std::int64_t value_;
};

}  // namespace sotto
