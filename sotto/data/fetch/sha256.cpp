#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

#include "sotto/core/check.hpp"
#include "sotto/data/fetch/fetch.hpp"

namespace sotto {

Expected<std::string> sha256_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return fail(ErrorKind::kIo,
                fmt::format("can't read {}: {}. Check the path.", path, std::strerror(errno)));
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        &EVP_MD_CTX_free);
  SOTTO_CHECK(context && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1);
  std::vector<char> block(1 << 16);
  while (file) {
    file.read(block.data(), std::ssize(block));
    SOTTO_CHECK(EVP_DigestUpdate(
                    context.get(), block.data(), static_cast<std::size_t>(file.gcount())) == 1);
  }
  if (file.bad()) return fail(ErrorKind::kIo, fmt::format("reading {} failed half-way.", path));
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  SOTTO_CHECK(EVP_DigestFinal_ex(context.get(), digest.data(), &size) == 1);
  std::string text;
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

}  // namespace sotto
