#include "sotto/core/digest.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>

#include "sotto/core/check.hpp"
#include "sotto/core/reserve.hpp"

namespace sotto {
namespace {

constexpr std::size_t kBytes = 32;

std::string hexadecimal(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

}  // namespace

std::string sha256_bytes(std::string_view bytes) {
  std::array<unsigned char, kBytes> out;
  require_memory(
      EVP_Digest(bytes.data(), bytes.size(), out.data(), nullptr, EVP_sha256(), nullptr) == 1);
  return {reinterpret_cast<const char*>(out.data()), out.size()};
}

std::string sha256(std::string_view bytes) { return hexadecimal(sha256_bytes(bytes)); }

std::string hmac_sha256(std::string_view key, std::string_view bytes) {
  std::array<unsigned char, kBytes> out;
  unsigned int size = 0;
  require_memory(HMAC(EVP_sha256(),
                      key.data(),
                      static_cast<int>(key.size()),
                      reinterpret_cast<const unsigned char*>(bytes.data()),
                      bytes.size(),
                      out.data(),
                      &size) != nullptr);
  SOTTO_CHECK(size == kBytes);
  return hexadecimal({reinterpret_cast<const char*>(out.data()), out.size()});
}

}  // namespace sotto
