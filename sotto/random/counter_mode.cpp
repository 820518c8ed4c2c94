#include "sotto/random/counter_mode.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <memory>
#include <new>

#include "sotto/core/check.hpp"
#include "sotto/core/memory.hpp"
#include "sotto/random/erase.hpp"

namespace sotto::internal {
namespace {

// Counter mode is the encryption of zeros; one call encrypts at most this many of them.
constexpr std::size_t kChunkBytes = 16384;
constexpr std::array<unsigned char, kChunkBytes> kZeros{};

void encrypt_zeros(EVP_CIPHER_CTX* cipher, std::span<std::byte> out) {
  while (!out.empty()) {
    const std::size_t size = std::min(out.size(), kChunkBytes);
    int written = 0;
    SOTTO_CHECK(EVP_EncryptUpdate(cipher,
                                  reinterpret_cast<unsigned char*>(out.data()),
                                  &written,
                                  kZeros.data(),
                                  static_cast<int>(size)) == 1 &&
                written == static_cast<int>(size));
    out = out.subspan(size);
  }
}

/// Puts the cipher at a byte of a branch of the key stream.
void go_to(EVP_CIPHER_CTX* cipher, std::uint64_t branch, std::uint64_t position) {
  const std::uint64_t block = position / CounterMode::kBlockBytes;
  std::array<unsigned char, CounterMode::kBlockBytes> counter{};  // big-endian
  for (std::size_t byte = 0; byte < 8; ++byte) {
    counter[15 - byte] = static_cast<unsigned char>(block >> (8 * byte));
    counter[7 - byte] = static_cast<unsigned char>(branch >> (8 * byte));
  }
  check_memory(EVP_EncryptInit_ex2(cipher, nullptr, nullptr, counter.data(), nullptr) == 1);
  std::array<std::byte, CounterMode::kBlockBytes> skipped;
  encrypt_zeros(cipher, std::span(skipped).first(position % CounterMode::kBlockBytes));
  erase(skipped.data(), skipped.size());
}

}  // namespace

CounterMode::CounterMode(const Key& key)
    : key_(EVP_CIPHER_CTX_new()), running_(EVP_CIPHER_CTX_new()) {
  const std::array<unsigned char, kBlockBytes> counter{};
  if (key_ && running_ &&
      EVP_EncryptInit_ex2(key_, EVP_aes_256_ctr(), key.data(), counter.data(), nullptr) == 1 &&
      EVP_CIPHER_CTX_copy(running_, key_) == 1)
    return;
  EVP_CIPHER_CTX_free(key_);
  EVP_CIPHER_CTX_free(running_);
  throw std::bad_alloc();
}

CounterMode::~CounterMode() {
  EVP_CIPHER_CTX_free(key_);
  EVP_CIPHER_CTX_free(running_);
}

void CounterMode::take_branch(std::uint64_t branch) {
  if (branch == branch_) return;
  branch_ = branch;
  next_ = 0;
  go_to(running_, branch_, next_);
}

void CounterMode::generate(std::uint64_t position, std::span<std::byte> out) {
  if (position != next_) go_to(running_, branch_, position);
  encrypt_zeros(running_, out);
  next_ = position + out.size();
}

void CounterMode::generate_shared(std::uint64_t position, std::span<std::byte> out) const {
  const std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> mine(EVP_CIPHER_CTX_new(),
                                                                             &EVP_CIPHER_CTX_free);
  check_memory(mine && EVP_CIPHER_CTX_copy(mine.get(), key_) == 1);
  go_to(mine.get(), branch_, position);
  encrypt_zeros(mine.get(), out);
}

}  // namespace sotto::internal
