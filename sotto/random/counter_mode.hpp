#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

struct evp_cipher_ctx_st;

namespace sotto::internal {

/// The key stream of AES-256 in counter mode, by OpenSSL, from any place: block i of branch b
/// encrypts b · 2^64 + i as a 128-bit big-endian number. OpenSSL erases the key's schedule with the
/// object.
class CounterMode {
 public:
  using Key = std::array<unsigned char, 32>;

  explicit CounterMode(const Key& key);
  ~CounterMode();
  CounterMode(const CounterMode&) = delete;
  CounterMode& operator=(const CounterMode&) = delete;

  /// All calls that follow are about this branch of the key stream; at first 0.
  void take_branch(std::uint64_t branch);

  /// out = bytes [position, position + out.size()) of the branch. Going on where the last call
  /// ended costs nothing more.
  void generate(std::uint64_t position, std::span<std::byte> out);

  /// The same on a cipher of its own, so that threads may call it at the same time; takes some
  /// tenths of a microsecond more.
  void generate_shared(std::uint64_t position, std::span<std::byte> out) const;

  static constexpr std::size_t kBlockBytes = 16;

 private:
  evp_cipher_ctx_st* key_;      ///< never used but to copy the key's schedule
  evp_cipher_ctx_st* running_;  ///< stands at `next_`
  std::uint64_t branch_ = 0;
  std::uint64_t next_ = 0;
};

}  // namespace sotto::internal
