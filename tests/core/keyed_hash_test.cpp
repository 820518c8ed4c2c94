#include "sotto/core/keyed_hash.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <set>
#include <string>

namespace sotto {
namespace {

// The example of the paper's appendix A: the key 00 01 … 0f, the text 00 01 … 0e.
TEST(KeyedHash, IsSipHash) {
  std::string text;
  for (char c = 0; c < 15; ++c) text += c;
  EXPECT_EQ(keyed_hash(text, {0x0706050403020100, 0x0f0e0d0c0b0a0908}), 0xa129ca6149be45e5);
}

TEST(KeyedHash, DependsOnEveryByteAndOnTheLength) {
  std::set<std::uint64_t> seen{keyed_hash("")};
  std::string text;
  for (int length = 1; length <= 40; ++length) {
    text += '\0';
    EXPECT_TRUE(seen.insert(keyed_hash(text)).second) << length;
    for (std::size_t k = 0; k < text.size(); ++k) {
      std::string other = text;
      other[k] = 1;
      EXPECT_TRUE(seen.insert(keyed_hash(other)).second) << length << " " << k;
    }
  }
}

// Names of 16 bytes that share libstdc++'s hash: a step of MurmurHash2 can be undone, so that the
// second half can make good for whatever the first one is.
std::string colliding_name(std::uint64_t first) {
  constexpr std::uint64_t kFactor = 0xc6a4a7935bd1e995;
  std::uint64_t inverse = kFactor;  // modulo 2^64, by Newton's steps
  for (int k = 0; k < 6; ++k) inverse *= 2 - kFactor * inverse;
  const auto fold = [](std::uint64_t v) { return v ^ (v >> 47); };  // its own inverse
  const std::uint64_t begin = 0xc70f6907 ^ (16 * kFactor);
  const std::uint64_t after = (begin ^ (fold(first * kFactor) * kFactor)) * kFactor;
  const std::uint64_t second = fold((after ^ 42) * inverse) * inverse;
  std::string name;
  for (const std::uint64_t word : {first, second})
    for (int k = 0; k < 8; ++k) name += static_cast<char>(word >> (8 * k));
  return name;
}

// Such names in a file made reading quadratic: 40,000 rows took half a minute.
TEST(KeyedHash, NamesThatWereMadeToCollideDoNot) {
  if (std::endian::native != std::endian::little) GTEST_SKIP() << "needs a little-endian machine";
  const std::size_t shared = std::hash<std::string>()(colliding_name(1));
  std::set<std::uint64_t> keyed;
  for (std::uint64_t k = 1; k <= 1000; ++k) {
    const std::string name = colliding_name(k);
    EXPECT_EQ(std::hash<std::string>()(name), shared) << "the twin: an unkeyed hash";
    EXPECT_TRUE(keyed.insert(keyed_hash(name)).second);
  }
}

}  // namespace
}  // namespace sotto
