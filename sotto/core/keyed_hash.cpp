#include "sotto/core/keyed_hash.hpp"

#include <sys/random.h>

#include <bit>
#include <chrono>
#include <cstring>

namespace sotto {
namespace {

using Key = std::array<std::uint64_t, 2>;

class SipState {
 public:
  explicit SipState(const Key& key)
      : a_(key[0] ^ 0x736f6d6570736575),
        b_(key[1] ^ 0x646f72616e646f6d),
        c_(key[0] ^ 0x6c7967656e657261),
        d_(key[1] ^ 0x7465646279746573) {}

  void take(std::uint64_t word) {
    d_ ^= word;
    mix(2);
    a_ ^= word;
  }

  std::uint64_t finish() {
    c_ ^= 0xff;
    mix(4);
    return a_ ^ b_ ^ c_ ^ d_;
  }

 private:
  void mix(int rounds) {
    for (; rounds > 0; --rounds) {
      a_ += b_;
      c_ += d_;
      b_ = std::rotl(b_, 13) ^ a_;
      d_ = std::rotl(d_, 16) ^ c_;
      a_ = std::rotl(a_, 32);
      c_ += b_;
      a_ += d_;
      b_ = std::rotl(b_, 17) ^ c_;
      d_ = std::rotl(d_, 21) ^ a_;
      c_ = std::rotl(c_, 32);
    }
  }

  std::uint64_t a_, b_, c_, d_;
};

/// Bytes as a little-endian number, at most eight.
std::uint64_t word_of(std::string_view bytes) {
  std::uint64_t word = 0;
  if constexpr (std::endian::native == std::endian::little) {
    if (bytes.size() == sizeof word) {
      std::memcpy(&word, bytes.data(), sizeof word);
      return word;
    }
  }
  for (std::size_t k = 0; k < bytes.size(); ++k)
    word |= std::uint64_t{static_cast<unsigned char>(bytes[k])} << (8 * k);
  return word;
}

Key random_key() {
  Key key{};
  // Without random numbers reading may become slow, if somebody tries; nothing else depends on it.
  if (::getrandom(key.data(), sizeof key, 0) != static_cast<ssize_t>(sizeof key))
    key = {static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()),
           reinterpret_cast<std::uintptr_t>(&key)};
  return key;
}

}  // namespace

std::uint64_t keyed_hash(std::string_view text, const Key& key) {
  SipState state(key);
  std::string_view left = text;
  for (; left.size() >= 8; left.remove_prefix(8)) state.take(word_of(left.substr(0, 8)));
  state.take(word_of(left) | std::uint64_t{text.size()} << 56);
  return state.finish();
}

std::uint64_t keyed_hash(std::string_view text) {
  static const Key key = random_key();
  return keyed_hash(text, key);
}

}  // namespace sotto
