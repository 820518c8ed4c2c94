#include "sotto/random/counter_mode.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sotto::internal {
namespace {

CounterMode::Key some_key(unsigned seed) {
  CounterMode::Key key;
  for (unsigned char& byte : key) byte = static_cast<unsigned char>((seed = seed * 75 + 74) >> 8);
  return key;
}

std::vector<std::byte> generated(CounterMode& cipher, std::uint64_t from, std::size_t size) {
  std::vector<std::byte> bytes(size);
  cipher.generate(from, bytes);
  return bytes;
}

TEST(CounterMode, IsAes256) {
  // AES-256 of a block of zeros under a key of zeros.
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
  CounterMode cipher({});
  const auto block = generated(cipher, 0, 16);
  for (std::size_t i = 0; i < 16; ++i)
    EXPECT_EQ(std::to_integer<unsigned>(block[i]), expected[i]) << i;
}

TEST(CounterMode, TheStreamIsTheSameFromAnyPlaceAndForEveryReader) {
  CounterMode cipher(some_key(7));
  // Across the carry of the counter's lowest bytes, and beyond 32 bits of blocks.
  for (const std::uint64_t begin : {0ull, 16 * 0xfff3ull, 16 * 0xfffffff7ull}) {
    const auto whole = generated(cipher, begin, 50'000);
    for (const std::size_t from : {0u, 1u, 15u, 16u, 17u, 4000u, 20'001u})
      for (const std::size_t size : {0u, 1u, 7u, 16u, 17u, 300u, 16'385u}) {
        const std::vector<std::byte> expected(
            whole.begin() + static_cast<std::ptrdiff_t>(from),
            whole.begin() + static_cast<std::ptrdiff_t>(from + size));
        ASSERT_EQ(generated(cipher, begin + from, size), expected) << from << " " << size;
        std::vector<std::byte> shared(size);
        cipher.generate_shared(begin + from, shared);
        ASSERT_EQ(shared, expected) << from << " " << size;
      }
  }
}

TEST(CounterMode, EveryBitOfTheKeyMatters) {
  CounterMode::Key key = some_key(3);
  CounterMode one(key);
  key[31] = static_cast<unsigned char>(key[31] ^ 1);
  CounterMode other(key);
  EXPECT_NE(generated(one, 0, 64), generated(other, 0, 64));
}

}  // namespace
}  // namespace sotto::internal
