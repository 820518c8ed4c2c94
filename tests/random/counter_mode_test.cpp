#include "sotto/random/counter_mode.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace sotto::internal {
namespace {

using Way = CounterMode::Way;

CounterMode::Key some_key(unsigned seed) {
  CounterMode::Key key;
  for (unsigned char& byte : key) byte = static_cast<unsigned char>((seed = seed * 75 + 74) >> 8);
  return key;
}

std::vector<std::byte> generated(const CounterMode& cipher, std::uint64_t from, std::size_t size) {
  std::vector<std::byte> bytes(size);
  cipher.generate(from, bytes);
  return bytes;
}

TEST(CounterMode, IsAes256) {
  // FIPS 197, appendix C.3 has no counter; the first block of a key of zeros is AES(0).
  const std::vector<unsigned> expected = {0xdc,
                                          0x95,
                                          0xc0,
                                          0x78,
                                          0xa2,
                                          0x40,
                                          0x89,
                                          0x89,
                                          0xad,
                                          0x48,
                                          0xa2,
                                          0x14,
                                          0x92,
                                          0x84,
                                          0x20,
                                          0x87};
  for (const Way way : {Way::kOpenSsl, Way::kAesInstructions, Way::kWideAesInstructions}) {
    if (!CounterMode::available(way)) continue;
    const auto block = generated(CounterMode({}, way), 0, 16);
    for (std::size_t i = 0; i < 16; ++i)
      EXPECT_EQ(std::to_integer<unsigned>(block[i]), expected[i]) << i;
  }
}

TEST(CounterMode, EveryWayGivesTheSameBytesFromAnyPlace) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const CounterMode reference(some_key(seed), Way::kOpenSsl);
    for (const Way way : {Way::kAesInstructions, Way::kWideAesInstructions}) {
      if (!CounterMode::available(way)) continue;
      const CounterMode cipher(some_key(seed), way);
      // Across the carry of the counter's lowest bytes, and beyond 32 bits of blocks.
      for (const std::uint64_t from : {0ull,
                                       1ull,
                                       15ull,
                                       16ull,
                                       4000ull,
                                       16 * 0xfff3ull + 5,
                                       16 * 0xfffffff7ull,
                                       16 * 0x123456789abcull + 8})
        for (const std::size_t size : {0u, 1u, 7u, 16u, 17u, 255u, 256u, 300u, 512u, 5000u, 40000u})
          ASSERT_EQ(generated(cipher, from, size), generated(reference, from, size))
              << "from " << from << " size " << size;
    }
  }
}

TEST(CounterMode, EveryBitOfTheKeyMatters) {
  // Power: what is compared above does change with a key.
  CounterMode::Key key = some_key(3);
  const auto before = generated(CounterMode(key), 0, 64);
  key[31] = static_cast<unsigned char>(key[31] ^ 1);
  EXPECT_NE(generated(CounterMode(key), 0, 64), before);
}

}  // namespace
}  // namespace sotto::internal
