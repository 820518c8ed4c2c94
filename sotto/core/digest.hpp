#pragma once

#include <string>
#include <string_view>

namespace sotto {

/// The SHA-256 of bytes, in 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

/// The same as 32 bytes.
std::string sha256_bytes(std::string_view bytes);

/// HMAC-SHA-256 under a key, in 64 hexadecimal digits.
std::string hmac_sha256(std::string_view key, std::string_view bytes);

}  // namespace sotto
