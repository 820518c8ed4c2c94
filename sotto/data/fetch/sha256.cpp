#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <memory>
#include <vector>

#include "sotto/core/check.hpp"
#include "sotto/core/reserve.hpp"
#include "sotto/data/fetch/fetch.hpp"
#include "sotto/data/io/input_file.hpp"

namespace sotto {

Expected<std::string> sha256_of_file(const std::string& path) {
  SOTTO_ASSIGN(InputFile file, InputFile::open_as_it_is(path));
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        &EVP_MD_CTX_free);
  require_memory(context && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1);
  std::vector<char> block(1 << 16);
  for (std::size_t got = block.size(); got == block.size();) {
    SOTTO_ASSIGN(got, file.read(block));
    SOTTO_CHECK(EVP_DigestUpdate(context.get(), block.data(), got) == 1);
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  SOTTO_CHECK(EVP_DigestFinal_ex(context.get(), digest.data(), &size) == 1);
  std::string text;
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

}  // namespace sotto
