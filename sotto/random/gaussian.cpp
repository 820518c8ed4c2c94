#include "sotto/random/gaussian.hpp"

#include <openssl/crypto.h>

#include <algorithm>
#include <array>

#include "sotto/core/check.hpp"
#include "sotto/random/gaussian_kernels.hpp"

namespace sotto {
namespace {

using internal::kGaussianGroup;
using internal::kGaussianWords;

constexpr std::size_t kChunkGroups = 32;  // 36 KiB of random words at a time: stays in the cache

struct Kernels {
  internal::GaussianKernel rounded_gaussian = internal::baseline::rounded_gaussian;
  internal::GridKernel add_on_grid = internal::baseline::add_on_grid;
};

const Kernels& kernels() {
  static const Kernels chosen = [] {
#ifdef SOTTO_HAS_X86_64_V3
    if (__builtin_cpu_supports("x86-64-v3")) {
      return Kernels{internal::x86_64_v3::rounded_gaussian, internal::x86_64_v3::add_on_grid};
    }
#endif
    return Kernels{};
  }();
  return chosen;
}

}  // namespace

void sample_rounded_gaussian(Stream& stream, std::span<std::int64_t> out) {
  const internal::GaussianKernel kernel = kernels().rounded_gaussian;
  std::array<std::uint64_t, kChunkGroups * kGaussianGroup * kGaussianWords> words;
  const std::size_t most_groups =
      std::min(kChunkGroups, (out.size() + kGaussianGroup - 1) / kGaussianGroup);
  while (!out.empty()) {
    const std::size_t groups = std::min(kChunkGroups, out.size() / kGaussianGroup);
    if (groups > 0) {
      const std::span chunk = std::span(words).first(groups * kGaussianGroup * kGaussianWords);
      stream.fill(std::as_writable_bytes(chunk));
      kernel(words.data(), groups, out.data());
      out = out.subspan(groups * kGaussianGroup);
    } else {
      std::array<std::int64_t, kGaussianGroup> last;
      stream.fill(std::as_writable_bytes(std::span(words).first(kGaussianGroup * kGaussianWords)));
      kernel(words.data(), 1, last.data());
      std::copy_n(last.begin(), out.size(), out.begin());
      OPENSSL_cleanse(last.data(), sizeof last);
      out = {};
    }
  }
  // What is left here would give the noise away.
  OPENSSL_cleanse(words.data(), most_groups * kGaussianGroup * kGaussianWords * sizeof words[0]);
}

void add_rounded_gaussian(Stream& stream, std::span<double> values, double unit) {
  SOTTO_CHECK(unit >= 0x1p-800 && unit <= 0x1p800);
  std::array<std::int64_t, kChunkGroups * kGaussianGroup> noise;
  const std::size_t most = std::min(noise.size(), values.size());
  while (!values.empty()) {
    const std::span chunk = std::span(noise).first(std::min(most, values.size()));
    sample_rounded_gaussian(stream, chunk);
    kernels().add_on_grid(values.data(), chunk.data(), chunk.size(), unit);
    values = values.subspan(chunk.size());
  }
  OPENSSL_cleanse(noise.data(), most * sizeof noise[0]);
}

}  // namespace sotto
