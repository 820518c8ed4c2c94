#pragma once

#include <new>

namespace sotto {

/// For calls of a library (OpenSSL) that fail here only where they get no memory: throws what `new`
/// throws there, which the program reports with exit code 6.
inline void check_memory(bool had_enough) {
  if (!had_enough) throw std::bad_alloc();
}

}  // namespace sotto
