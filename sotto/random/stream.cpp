#include "sotto/random/stream.hpp"

#include <openssl/evp.h>
#include <pthread.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "sotto/core/check.hpp"
#include "sotto/core/reserve.hpp"
#include "sotto/random/counter_mode.hpp"
#include "sotto/random/erase.hpp"

namespace sotto {
namespace {

constexpr std::size_t kBufferBytes = 8192;
constexpr std::size_t kLeastRefillBytes = 256;
/// 2^36 bytes for a block of a release, 2^28 blocks.
constexpr int kBlockBits = 36;

using Key = internal::CounterMode::Key;

void watch_forks() {
  [[maybe_unused]] static const int once =
      pthread_atfork(nullptr, nullptr, [] { ++internal::process_number; });
}

Key system_key() {
  Key key;
  ssize_t got = 0;
  do {
    got = getrandom(key.data(), key.size(), 0);
  } while (got < 0 && errno == EINTR);
  SOTTO_CHECK(got == static_cast<ssize_t>(key.size()));
  return key;
}

Key derived_key(std::uint64_t seed, Purpose purpose, std::uint64_t instance) {
  constexpr std::string_view kDomain = "sotto seeded stream 1";
  std::array<unsigned char, kDomain.size() + 17> message;
  auto* out = std::copy(kDomain.begin(), kDomain.end(), message.begin());
  const auto append = [&out](std::uint64_t number) {  // little-endian on every machine
    for (int byte = 0; byte < 8; ++byte) *out++ = static_cast<unsigned char>(number >> (8 * byte));
  };
  append(seed);
  *out++ = static_cast<unsigned char>(purpose);
  append(instance);
  Key key;
  require_memory(
      EVP_Digest(message.data(), message.size(), key.data(), nullptr, EVP_sha256(), nullptr) == 1);
  return key;
}

}  // namespace

std::atomic<std::uint32_t> internal::process_number{0};

struct Stream::State {
  internal::CounterMode cipher;
  std::array<std::byte, kBufferBytes> buffer;
  bool insecure;
  std::uint64_t generated = 0;  // bytes of the key stream
  std::size_t refill = kBufferBytes;

  const std::uint32_t process = internal::process_number.load(std::memory_order_relaxed);

  State(Key key, bool is_insecure) : cipher(key), insecure(is_insecure) {
    watch_forks();
    internal::erase(key.data(), key.size());
  }
  ~State() { internal::erase(buffer.data(), buffer.size()); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void generate(std::span<std::byte> out) {
    cipher.generate(generated, out);
    generated += out.size();
  }
};

Stream::Stream(std::unique_ptr<State> state) : state_(std::move(state)) {}
// What was moved from has nothing left to hand out: two streams never share a word.
Stream::Stream(Stream&& other) noexcept
    : state_(std::move(other.state_)),
      next_(std::exchange(other.next_, nullptr)),
      end_(std::exchange(other.end_, nullptr)),
      process_(other.process_) {}
Stream& Stream::operator=(Stream&& other) noexcept {
  state_ = std::move(other.state_);
  next_ = std::exchange(other.next_, nullptr);
  end_ = std::exchange(other.end_, nullptr);
  process_ = other.process_;
  return *this;
}
Stream::~Stream() = default;

Stream Stream::secure(Purpose) { return Stream(std::make_unique<State>(system_key(), false)); }

Stream Stream::seeded(std::uint64_t seed, Purpose purpose, std::uint64_t instance) {
  return Stream(std::make_unique<State>(derived_key(seed, purpose, instance), true));
}

bool Stream::insecure() const { return state_->insecure; }

std::uint64_t Stream::position() const {
  SOTTO_CHECK(insecure());
  return state_->generated - static_cast<std::uint64_t>(end_ - next_);
}

void Stream::skip_to(std::uint64_t position) {
  SOTTO_CHECK(insecure());
  state_->generated = position;
  next_ = end_ = nullptr;
}

void Stream::check_process() {
  if (!internal::forked_since(process_)) return;
  process_ = internal::process_number.load(std::memory_order_relaxed);
  if (insecure()) return;
  const std::size_t refill = state_->refill;
  state_ = std::make_unique<State>(system_key(), false);
  state_->refill = refill;
  next_ = end_ = nullptr;
}

void Stream::go_to(std::uint64_t release, std::uint64_t block, std::size_t bytes) {
  check_process();
  SOTTO_CHECK(release >= 1 && block < std::uint64_t{1} << (64 - kBlockBits));
  state_->cipher.take_branch(release);
  state_->generated = block << kBlockBits;
  state_->refill = std::clamp(bytes, kLeastRefillBytes, kBufferBytes);
  next_ = end_ = nullptr;
}

Stream::Section Stream::take(std::size_t bytes) {
  check_process();
  const auto buffered = static_cast<std::size_t>(end_ - next_);
  const Section section(state_.get(), state_->generated - buffered, bytes);
  if (bytes <= buffered) {
    next_ += bytes;
  } else {
    state_->generated += bytes - buffered;
    next_ = end_ = nullptr;
  }
  return section;
}

void Stream::Section::read(std::size_t offset, std::span<std::byte> out) const {
  SOTTO_CHECK(offset <= size_ && out.size() <= size_ - offset);
  // Not in a child process, which would have the parent's bytes.
  SOTTO_CHECK(state_->insecure || !internal::forked_since(state_->process));
  state_->cipher.generate_shared(begin_ + offset, out);
}

void Stream::refill() {
  state_->generate(std::span(state_->buffer).first(state_->refill));
  next_ = state_->buffer.data();
  end_ = next_ + state_->refill;
  state_->refill = kBufferBytes;
}

void Stream::fill(std::span<std::byte> bytes) {
  check_process();
  // What becomes noise must not stay behind.
  const auto take_buffered = [this](std::span<std::byte> out) {
    if (out.empty()) return;
    std::copy_n(next_, out.size(), out.data());
    internal::erase(next_, out.size());
    next_ += out.size();
  };
  const std::size_t buffered = std::min(bytes.size(), static_cast<std::size_t>(end_ - next_));
  take_buffered(bytes.first(buffered));
  bytes = bytes.subspan(buffered);
  if (bytes.size() >= kBufferBytes / 2) {
    state_->generate(bytes);
  } else if (!bytes.empty()) {
    refill();
    take_buffered(bytes);
  }
}

std::uint64_t Stream::next_after_refill() {
  std::uint64_t word = 0;
  fill(std::as_writable_bytes(std::span(&word, 1)));
  return word;
}

std::uint64_t Stream::below(std::uint64_t bound) {
  SOTTO_CHECK(bound > 0);
  __extension__ using Wide = unsigned __int128;
  // The high word of next() * bound is uniform once the 2^64 mod bound smallest low words are
  // rejected [Lem19].
  Wide product = Wide{next()} * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t rejected = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < rejected) product = Wide{next()} * bound;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

double Stream::uniform() { return (static_cast<double>(next() >> 12) + 0.5) * 0x1p-52; }

}  // namespace sotto
