// OpenSSL that gets no memory: std::bad_alloc, as everywhere, and not a bug in Sotto (exit code 7).

#include <gtest/gtest.h>
#include <openssl/crypto.h>

#include <array>
#include <cstdlib>
#include <new>

#include "sotto/core/digest.hpp"
#include "sotto/random/counter_mode.hpp"
#include "sotto/random/stream.hpp"

namespace sotto {
namespace {

thread_local bool refused = false;

void* get(std::size_t size, const char*, int) { return refused ? nullptr : std::malloc(size); }
void* get_more(void* before, std::size_t size, const char*, int) {
  return refused ? nullptr : std::realloc(before, size);
}
void give_back(void* memory, const char*, int) { std::free(memory); }

// Only before OpenSSL's first allocation.
const bool replaced = CRYPTO_set_mem_functions(get, get_more, give_back) == 1;

class Refusing {
 public:
  Refusing() { refused = true; }
  Refusing(const Refusing&) = delete;
  Refusing& operator=(const Refusing&) = delete;
  ~Refusing() { refused = false; }
};

template <class Call>
void expect_bad_alloc(Call call) {
  call();  // OpenSSL is ready, and the call is sound
  const Refusing refusing;
  EXPECT_THROW(call(), std::bad_alloc);
}

TEST(Memory, OpenSslWithoutItThrowsWhatNewThrows) {
  ASSERT_TRUE(replaced);
  expect_bad_alloc([] { sha256("text"); });
  expect_bad_alloc([] { hmac_sha256("a key of 16 byte", "text"); });
  expect_bad_alloc([] { Stream::seeded(1, Purpose::kNoise); });
  expect_bad_alloc([] { Stream::secure(Purpose::kNoise); });
  const internal::CounterMode cipher({});
  std::array<std::byte, 64> out{};
  expect_bad_alloc([&] { cipher.generate_shared(0, out); });
}

}  // namespace
}  // namespace sotto
