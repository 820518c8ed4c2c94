#pragma once

#include <cstddef>
#include <cstring>

namespace sotto::internal {

/// Overwrites memory that held secrets; no optimization leaves it out. As fast as memset, which
/// OPENSSL_cleanse is not.
inline void erase(void* memory, std::size_t size) { ::explicit_bzero(memory, size); }

}  // namespace sotto::internal
