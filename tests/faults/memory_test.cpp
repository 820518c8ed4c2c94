// What becomes noise does not stay in memory, and memory does not become a core dump.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <functional>
#include <set>

#include "sotto/random/stream.hpp"
#include "tests/support/child.hpp"
#include "tests/support/temp_dir.hpp"

namespace sotto::testing {
namespace {

/// The heap, copied to where it is not part of itself.
class HeapCopy {
 public:
  HeapCopy() {
    std::ifstream maps("/proc/self/maps");
    unsigned long begin = 0;
    unsigned long end = 0;
    for (std::string line; std::getline(maps, line);)
      if (line.ends_with("[heap]")) std::sscanf(line.c_str(), "%lx-%lx", &begin, &end);
    bytes_ = end - begin;
    if (bytes_ == 0) return;
    copy_ = static_cast<std::byte*>(
        ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    std::memcpy(copy_, reinterpret_cast<const void*>(begin), bytes_);
  }
  HeapCopy(const HeapCopy&) = delete;
  HeapCopy& operator=(const HeapCopy&) = delete;
  ~HeapCopy() {
    if (bytes_ > 0) ::munmap(copy_, bytes_);
  }

  bool empty() const { return bytes_ == 0; }
  bool holds(std::uint64_t word) const {
    std::array<std::byte, sizeof word> pattern;
    std::memcpy(pattern.data(), &word, sizeof word);
    return std::search(copy_,
                       copy_ + bytes_,
                       std::boyer_moore_horspool_searcher(pattern.begin(), pattern.end())) !=
           copy_ + bytes_;
  }

 private:
  std::byte* copy_ = nullptr;
  std::size_t bytes_ = 0;
};

// The words wait in the stream's buffer, and are gone from it once they are handed out.
TEST(Noise, IsNotKeptOnceItIsHandedOut) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers have a heap of their own";
#endif
  constexpr std::uint64_t kMask = 0x5a5a5a5a5a5a5a5a;  // the test must not keep them, either
  constexpr std::size_t kWords = 24;
  std::array<std::uint64_t, kWords> masked{};
  Stream noise = Stream::secure(Purpose::kNoise);
  noise.next();  // fills the buffer
  const HeapCopy before;
  if (before.empty()) GTEST_SKIP() << "no heap to look at";
  for (std::size_t k = 0; k < kWords; ++k) {
    std::uint64_t word = 0;
    if (k % 2 == 0)
      word = noise.next();
    else
      noise.fill(std::as_writable_bytes(std::span(&word, 1)));
    masked[k] = word ^ kMask;
  }
  const HeapCopy after;
  for (std::size_t k = 0; k < kWords; ++k) {
    EXPECT_TRUE(before.holds(masked[k] ^ kMask)) << "the test looks at the right place: " << k;
    EXPECT_FALSE(after.holds(masked[k] ^ kMask)) << k;
  }
}

/// How a program ends that dies of SIGABRT where cores are wanted, in `folder`, once it `waits`.
int crashed(const Words& words, const std::string& folder, bool (*waits)(pid_t child)) {
  rlimit before{};
  ::getrlimit(RLIMIT_CORE, &before);
  const rlimit all{before.rlim_max, before.rlim_max};
  ::setrlimit(RLIMIT_CORE, &all);
  const auto here = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  const pid_t child = started(words);
  std::filesystem::current_path(here);
  ::setrlimit(RLIMIT_CORE, &before);
  EXPECT_TRUE(waits(child));
  ::kill(child, SIGABRT);
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(CoreDumps, AreOff) {
  const TempDir dir;
  ASSERT_EQ(::mkfifo(dir.file("pipe").c_str(), 0600), 0);
  // Its handlers are installed after core dumps are switched off.
  const int ours = crashed({SOTTO_BINARY, "verify", dir.file("pipe")},
                           dir.file(""),
                           [](pid_t child) { return wait_for_handler(child, SIGTERM); });
  ASSERT_TRUE(WIFSIGNALED(ours));
  EXPECT_EQ(WTERMSIG(ours), SIGABRT);
  EXPECT_FALSE(WCOREDUMP(ours));
  const int other = crashed({"sleep", "600"}, dir.file(""), [](pid_t child) {
    return wait_until([&] { return status_of(child, "Name") == "sleep"; });
  });
  ASSERT_TRUE(WIFSIGNALED(other));
  if (!WCOREDUMP(other)) GTEST_SKIP() << "nothing is dumped on this machine";
}

}  // namespace
}  // namespace sotto::testing
