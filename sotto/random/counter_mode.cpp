#include "sotto/random/counter_mode.hpp"

#include <openssl/evp.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <algorithm>

#include "sotto/core/check.hpp"
#include "sotto/random/erase.hpp"

namespace sotto::internal {
namespace {

#ifdef __x86_64__

constexpr int kRounds = 14;

__attribute__((target("aes,sse4.1"))) inline __m128i prefix_xor(__m128i x) {
  x = _mm_xor_si128(x, _mm_slli_si128(x, 4));
  return _mm_xor_si128(x, _mm_slli_si128(x, 8));
}

/// Round keys 2i and 2i + 1 of the schedule of FIPS 197 from the two before them.
template <int kConstant>
__attribute__((target("aes,sse4.1"))) inline void next_keys(__m128i& even, __m128i& odd) {
  even = _mm_xor_si128(prefix_xor(even),
                       _mm_shuffle_epi32(_mm_aeskeygenassist_si128(odd, kConstant), 0xff));
  odd = _mm_xor_si128(prefix_xor(odd), _mm_shuffle_epi32(_mm_aeskeygenassist_si128(even, 0), 0xaa));
}

__attribute__((target("aes,sse4.1"))) void expand_key(const unsigned char* key, void* round_keys) {
  auto* out = static_cast<__m128i*>(round_keys);
  __m128i even = _mm_loadu_si128(reinterpret_cast<const __m128i*>(key));
  __m128i odd = _mm_loadu_si128(reinterpret_cast<const __m128i*>(key + 16));
  const auto write = [&out](__m128i a, __m128i b) {
    *out++ = a;
    *out++ = b;
  };
  write(even, odd);
  next_keys<0x01>(even, odd);
  write(even, odd);
  next_keys<0x02>(even, odd);
  write(even, odd);
  next_keys<0x04>(even, odd);
  write(even, odd);
  next_keys<0x08>(even, odd);
  write(even, odd);
  next_keys<0x10>(even, odd);
  write(even, odd);
  next_keys<0x20>(even, odd);
  write(even, odd);
  next_keys<0x40>(even, odd);
  *out = even;
}

/// Blocks that are encrypted side by side: as many as hide an instruction's latency.
constexpr std::size_t kVectors = 8;

__attribute__((target("aes,sse4.1"))) void encrypt(const void* round_keys,
                                                   std::uint64_t first,
                                                   std::size_t count,
                                                   std::byte* out) {
  const auto* keys = static_cast<const __m128i*>(round_keys);
  auto* target = reinterpret_cast<__m128i*>(out);
  const auto counter = [&](std::uint64_t i) {
    return _mm_set_epi64x(static_cast<long long>(__builtin_bswap64(i)), 0);
  };
  for (; count >= kVectors; count -= kVectors, first += kVectors, target += kVectors) {
    __m128i x[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) x[v] = _mm_xor_si128(counter(first + v), keys[0]);
    for (int r = 1; r < kRounds; ++r)
      for (std::size_t v = 0; v < kVectors; ++v) x[v] = _mm_aesenc_si128(x[v], keys[r]);
    for (std::size_t v = 0; v < kVectors; ++v)
      _mm_storeu_si128(target + v, _mm_aesenclast_si128(x[v], keys[kRounds]));
  }
  for (; count > 0; --count, ++first, ++target) {
    __m128i x = _mm_xor_si128(counter(first), keys[0]);
    for (int r = 1; r < kRounds; ++r) x = _mm_aesenc_si128(x, keys[r]);
    _mm_storeu_si128(target, _mm_aesenclast_si128(x, keys[kRounds]));
  }
}

__attribute__((target("aes,avx2,vaes"))) void encrypt_wide(const void* round_keys,
                                                           std::uint64_t first,
                                                           std::size_t count,
                                                           std::byte* out) {
  const auto* keys = static_cast<const __m128i*>(round_keys);
  const __m256i to_big_endian = _mm256_setr_epi8(0,
                                                 1,
                                                 2,
                                                 3,
                                                 4,
                                                 5,
                                                 6,
                                                 7,
                                                 15,
                                                 14,
                                                 13,
                                                 12,
                                                 11,
                                                 10,
                                                 9,
                                                 8,
                                                 0,
                                                 1,
                                                 2,
                                                 3,
                                                 4,
                                                 5,
                                                 6,
                                                 7,
                                                 15,
                                                 14,
                                                 13,
                                                 12,
                                                 11,
                                                 10,
                                                 9,
                                                 8);
  constexpr std::size_t kStep = 2 * kVectors;
  const __m256i two = _mm256_set_epi64x(2, 0, 2, 0);
  __m256i next =
      _mm256_set_epi64x(static_cast<long long>(first + 1), 0, static_cast<long long>(first), 0);
  for (; count >= kStep; count -= kStep, first += kStep, out += kStep * CounterMode::kBlockBytes) {
    __m256i x[kVectors];
    const __m256i start = _mm256_broadcastsi128_si256(keys[0]);
    for (std::size_t v = 0; v < kVectors; ++v) {
      x[v] = _mm256_xor_si256(_mm256_shuffle_epi8(next, to_big_endian), start);
      next = _mm256_add_epi64(next, two);
    }
    for (int r = 1; r < kRounds; ++r) {
      const __m256i key = _mm256_broadcastsi128_si256(keys[r]);
      for (std::size_t v = 0; v < kVectors; ++v) x[v] = _mm256_aesenc_epi128(x[v], key);
    }
    const __m256i last = _mm256_broadcastsi128_si256(keys[kRounds]);
    for (std::size_t v = 0; v < kVectors; ++v)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out) + v,
                          _mm256_aesenclast_epi128(x[v], last));
  }
  encrypt(round_keys, first, count, out);
}

#endif

}  // namespace

bool CounterMode::available(Way way) {
#ifdef __x86_64__
  const bool narrow = __builtin_cpu_supports("aes") && __builtin_cpu_supports("sse4.1");
  if (way == Way::kAesInstructions) return narrow;
  if (way == Way::kWideAesInstructions)
    return narrow && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("vaes");
#endif
  return way == Way::kOpenSsl;
}

CounterMode::Way CounterMode::fastest() {
  static const Way way = [] {
    for (const Way each : {Way::kWideAesInstructions, Way::kAesInstructions})
      if (available(each)) return each;
    return Way::kOpenSsl;
  }();
  return way;
}

CounterMode::CounterMode(const Key& key, Way way) : way_(way) {
  SOTTO_CHECK(available(way));
#ifdef __x86_64__
  if (way != Way::kOpenSsl) {
    expand_key(key.data(), round_keys_.data());
    return;
  }
#endif
  cipher_ = EVP_CIPHER_CTX_new();
  SOTTO_CHECK(cipher_ &&
              EVP_EncryptInit_ex2(cipher_, EVP_aes_256_ctr(), key.data(), nullptr, nullptr) == 1);
}

CounterMode::~CounterMode() {
  EVP_CIPHER_CTX_free(cipher_);  // OpenSSL erases the key schedule
  erase(round_keys_.data(), round_keys_.size());
}

void CounterMode::generate(std::uint64_t position, std::span<std::byte> out) const {
  // Whole blocks where they belong; the two ends, if they are parts of blocks, beside it.
  const auto part = [&](std::size_t skipped) {
    std::array<std::byte, kBlockBytes> block;
    blocks(position / kBlockBytes, 1, block.data());
    const std::size_t size = std::min(out.size(), kBlockBytes - skipped);
    std::copy_n(block.begin() + static_cast<std::ptrdiff_t>(skipped), size, out.begin());
    erase(block.data(), block.size());
    position += size;
    out = out.subspan(size);
  };
  if (position % kBlockBytes != 0 && !out.empty()) part(position % kBlockBytes);
  const std::size_t whole = out.size() / kBlockBytes;
  blocks(position / kBlockBytes, whole, out.data());
  position += whole * kBlockBytes;
  out = out.subspan(whole * kBlockBytes);
  if (!out.empty()) part(0);
}

void CounterMode::blocks(std::uint64_t first, std::size_t count, std::byte* out) const {
  if (count == 0) return;
#ifdef __x86_64__
  if (way_ == Way::kWideAesInstructions) return encrypt_wide(round_keys_.data(), first, count, out);
  if (way_ == Way::kAesInstructions) return encrypt(round_keys_.data(), first, count, out);
#endif
  // Counter mode is the encryption of zeros; one call encrypts at most this many of them.
  constexpr std::size_t kChunkBytes = 16384;
  static constexpr std::array<unsigned char, kChunkBytes> kZeros{};
  std::array<unsigned char, kBlockBytes> counter{};  // big-endian
  for (std::size_t byte = 0; byte < 8; ++byte)
    counter[15 - byte] = static_cast<unsigned char>(first >> (8 * byte));
  EVP_CIPHER_CTX* mine = EVP_CIPHER_CTX_new();  // the place in the stream is a part of it
  SOTTO_CHECK(mine && EVP_CIPHER_CTX_copy(mine, cipher_) == 1 &&
              EVP_EncryptInit_ex2(mine, nullptr, nullptr, counter.data(), nullptr) == 1);
  for (std::size_t left = count * kBlockBytes; left > 0;) {
    const std::size_t size = std::min(left, kChunkBytes);
    int written = 0;
    SOTTO_CHECK(EVP_EncryptUpdate(mine,
                                  reinterpret_cast<unsigned char*>(out),
                                  &written,
                                  kZeros.data(),
                                  static_cast<int>(size)) == 1 &&
                written == static_cast<int>(size));
    out += size;
    left -= size;
  }
  EVP_CIPHER_CTX_free(mine);
}

}  // namespace sotto::internal
