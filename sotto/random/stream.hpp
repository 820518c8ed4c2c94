#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

namespace sotto {

namespace internal {

/// Grows by one in every child process.
extern std::atomic<std::uint32_t> process_number;
inline bool forked_since(std::uint32_t process) {
  return process_number.load(std::memory_order_relaxed) != process;
}

}  // namespace internal

/// What a stream's randomness is for. Streams of different purposes never share key material, so a
/// sampling pattern says nothing about noise.
enum class Purpose : std::uint8_t {
  kSampling = 1,
  kNoise = 2,
  kInitialPoint = 3,
  kSelection = 4,
  kData = 5
};

/// A stream of random bits: AES-256 in counter mode under a key from the operating system. The key
/// is never shown or stored. A seeded stream is for tests and reproductions only and says so.
/// After a fork() a secure stream of the child takes a key of its own: with the parent's, two
/// releases would have the same noise, and their difference none.
class Stream {
 public:
  /// Fresh key from getrandom(2).
  static Stream secure(Purpose purpose);
  /// Key derived from (seed, purpose, instance): reproducible, hence NOT private.
  static Stream seeded(std::uint64_t seed, Purpose purpose, std::uint64_t instance = 0);

  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();

  bool insecure() const;

  /// Seeded streams only: how many bytes were handed out, and the same stream from there on. A
  /// secure stream's place is of no use without its key, which nobody has.
  std::uint64_t position() const;
  void skip_to(std::uint64_t position);

  /// From here on the stream hands out the bytes that belong to `block` of `release`: the same ones
  /// whenever it comes back to this pair, and none of another pair's. So one block's draw can be
  /// made again, on any thread or machine that has the key, without those before it. Noise must
  /// never be drawn twice: only sampling streams go places. release >= 1 (0 is the stream that has
  /// never gone anywhere), block < 2^28. `bytes`: how many will be asked for there, about.
  void go_to(std::uint64_t release, std::uint64_t block, std::size_t bytes = 2048);

  void fill(std::span<std::byte> bytes);

  /// Bytes that were set aside for several threads; not to be used after its stream.
  class Section;
  /// The next bytes, which fill would hand out: nobody else gets them.
  Section take(std::size_t bytes);

  std::uint64_t next() {  ///< 64 uniform bits
    std::uint64_t word;
    if (static_cast<std::size_t>(end_ - next_) < sizeof word || internal::forked_since(process_))
      return next_after_refill();
    std::memcpy(&word, next_, sizeof word);
    std::memset(next_, 0, sizeof word);  // what becomes noise must not stay behind
    next_ += sizeof word;
    return word;
  }
  std::uint64_t below(std::uint64_t bound);  ///< uniform on [0, bound), exactly; bound > 0
  double uniform();  ///< in (0, 1), 53 bits; for public uses (synthetic data), not for noise

 private:
  struct State;
  explicit Stream(std::unique_ptr<State> state);
  std::uint64_t next_after_refill();
  void refill();
  /// In a child process: a key of its own.
  void check_process();

  std::unique_ptr<State> state_;
  std::byte* next_ = nullptr;  // what is left of the state's buffer
  std::byte* end_ = nullptr;
  std::uint32_t process_ = internal::process_number.load(std::memory_order_relaxed);
};

class Stream::Section {
 public:
  /// out = the section's bytes [offset, offset + out.size()). Threads may call it at the same time;
  /// whoever reads a byte twice uses it twice.
  void read(std::size_t offset, std::span<std::byte> out) const;

 private:
  friend class Stream;
  Section(const State* state, std::uint64_t begin, std::size_t size)
      : state_(state), begin_(begin), size_(size) {}
  const State* state_;
  std::uint64_t begin_;
  std::size_t size_;
};

}  // namespace sotto
