#include "sotto/random/gaussian.hpp"

#include <openssl/crypto.h>

#include <algorithm>
#include <array>

#include "sotto/random/gaussian_kernels.hpp"

namespace sotto {
namespace {

using internal::kGaussianGroup;
using internal::kGaussianWords;

constexpr std::size_t kChunkGroups = 32;  // 36 KiB of random words at a time: stays in the cache

internal::GaussianKernel choose_kernel() {
#ifdef SOTTO_HAS_X86_64_V3
  if (__builtin_cpu_supports("x86-64-v3")) return internal::x86_64_v3::rounded_gaussian;
#endif
  return internal::baseline::rounded_gaussian;
}

}  // namespace

void sample_rounded_gaussian(Stream& stream, std::span<std::int64_t> out) {
  static const internal::GaussianKernel kernel = choose_kernel();
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

}  // namespace sotto
