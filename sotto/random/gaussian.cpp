#include "sotto/random/gaussian.hpp"

#include <algorithm>
#include <array>

#include "sotto/core/check.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/core/processor.hpp"
#include "sotto/random/erase.hpp"
#include "sotto/random/gaussian_kernels.hpp"

namespace sotto {
namespace {

using internal::kGaussianGroup;
using internal::kGaussianWords;

constexpr std::size_t kGroupBytes = kGaussianGroup * kGaussianWords * sizeof(std::uint64_t);
constexpr std::size_t kChunkGroups = 16;  // 12 KiB of random words at a time: first-level cache
constexpr std::size_t kChunk = kChunkGroups * kGaussianGroup;
constexpr std::size_t kTaskChunks = 4;  // of which threads share many samples
constexpr std::size_t kTask = kTaskChunks * kChunk;

struct Kernels {
  internal::GaussianKernel rounded_gaussian = internal::baseline::rounded_gaussian;
  internal::GridKernel add_on_grid = internal::baseline::add_on_grid;
};

const Kernels& kernels() {
  static const Kernels chosen = [] {
#ifdef SOTTO_HAS_X86_64_V3
    if (runs_x86_64_v3()) {
      return Kernels{internal::x86_64_v3::rounded_gaussian, internal::x86_64_v3::add_on_grid};
    }
#endif
    return Kernels{};
  }();
  return chosen;
}

/// Calls body(first, samples) for consecutive pieces of `count` samples; which words of the stream
/// become which sample does not depend on the threads.
template <class Body>
void for_each_chunk(Stream& stream, std::size_t count, const Body& body) {
  const std::size_t groups = (count + kGaussianGroup - 1) / kGaussianGroup;
  const bool one_piece = groups <= kChunkGroups;  // and no need of a cipher for each thread
  const Stream::Section section = stream.take(one_piece ? 0 : groups * kGroupBytes);
  const std::size_t tasks = (count + kTask - 1) / kTask;
  const auto run = [&](std::int64_t task, int) {
    // Vectors that cross cache lines are slow.
    alignas(64) std::array<std::uint64_t, kChunk * kGaussianWords> words;
    alignas(64) std::array<std::int64_t, kChunk> samples;
    const std::size_t begin = static_cast<std::size_t>(task) * kTask;
    const std::size_t end = std::min(begin + kTask, count);
    for (std::size_t first = begin; first < end; first += kChunk) {
      const std::size_t size = std::min(kChunk, end - first);
      const std::size_t wanted = (size + kGaussianGroup - 1) / kGaussianGroup;
      const auto bytes = std::as_writable_bytes(std::span(words)).first(wanted * kGroupBytes);
      if (one_piece)
        stream.fill(bytes);
      else
        section.read(first / kGaussianGroup * kGroupBytes, bytes);
      kernels().rounded_gaussian(words.data(), wanted, samples.data());
      body(first, std::span<const std::int64_t>(samples).first(size));
    }
    // What is left here would give the noise away.
    const std::size_t used = std::min(kChunk, end - begin + kGaussianGroup - 1);
    internal::erase(words.data(), used * kGaussianWords * sizeof words[0]);
    internal::erase(samples.data(), used * sizeof samples[0]);
  };
  parallel_for(static_cast<std::int64_t>(tasks), run);
}

}  // namespace

void sample_rounded_gaussian(Stream& stream, std::span<std::int64_t> out) {
  for_each_chunk(stream, out.size(), [&](std::size_t first, std::span<const std::int64_t> samples) {
    std::copy(samples.begin(), samples.end(), out.begin() + static_cast<std::ptrdiff_t>(first));
  });
}

void add_rounded_gaussian(Stream& stream, std::span<double> values, double unit) {
  SOTTO_CHECK(unit >= 0x1p-800 && unit <= 0x1p800);
  for_each_chunk(
      stream, values.size(), [&](std::size_t first, std::span<const std::int64_t> noise) {
        kernels().add_on_grid(values.data() + first, noise.data(), noise.size(), unit);
      });
}

}  // namespace sotto
