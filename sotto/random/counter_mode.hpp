#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

struct evp_cipher_ctx_st;

namespace sotto::internal {

/// The key stream of AES-256 in counter mode, from any place: block i encrypts i as a 128-bit
/// big-endian number.
///
/// On processors with AES instructions the blocks are made here, many at a time (with VAES twice as
/// fast as OpenSSL's); elsewhere by OpenSSL. The bytes are the same, and no table is looked up. The
/// key and its schedule are erased with the object.
class CounterMode {
 public:
  using Key = std::array<unsigned char, 32>;
  enum class Way { kOpenSsl, kAesInstructions, kWideAesInstructions };

  /// `way`: kOpenSsl or one that this machine has (available()).
  explicit CounterMode(const Key& key, Way way = fastest());
  ~CounterMode();
  CounterMode(const CounterMode&) = delete;
  CounterMode& operator=(const CounterMode&) = delete;

  /// out = bytes [position, position + out.size()) of the key stream. Threads may call it at the
  /// same time.
  void generate(std::uint64_t position, std::span<std::byte> out) const;

  static bool available(Way way);
  static Way fastest();

  static constexpr std::size_t kBlockBytes = 16;

 private:
  void blocks(std::uint64_t first, std::size_t count, std::byte* out) const;

  Way way_;
  alignas(32) std::array<unsigned char, 15 * kBlockBytes> round_keys_{};
  evp_cipher_ctx_st* cipher_ = nullptr;
};

}  // namespace sotto::internal
