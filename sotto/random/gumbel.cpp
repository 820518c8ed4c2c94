#include "sotto/random/gumbel.hpp"

#include <openssl/crypto.h>

#include <algorithm>
#include <array>
#include <boost/multiprecision/cpp_bin_float.hpp>

#include "sotto/core/check.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/core/processor.hpp"
#include "sotto/random/gumbel_kernels.hpp"

namespace sotto {
namespace {

using Precise = boost::multiprecision::cpp_bin_float_100;
using internal::kGumbelGroup;

constexpr std::size_t kMostRunners = 4096;
/// Rounding of factor · score + value in doubles is far below the kernel's error.
constexpr double kNear = 4 * internal::kGumbelError;

internal::GumbelKernel kernel() {
#ifdef SOTTO_HAS_X86_64_V3
  if (runs_x86_64_v3()) return internal::x86_64_v3::gumbels;
#endif
  return internal::baseline::gumbels;
}

/// -log(-log(1 - v)). Boost makes the constants of its logarithm when they are first asked for, and
/// not for several threads at once: so they are asked for here, where one thread is let in.
Precise gumbel_of(const Precise& v) {
  using boost::multiprecision::log;
  static const Precise first = log(-log(1 - Precise(0.25))) + log(Precise(3));
  (void)first;
  return -log(-log(1 - v));
}

/// factor · score + Gumbel, V's digits being the word and 96 fresh ones.
Precise precise_value(Stream& stream, std::uint32_t word, double factor, std::int64_t score) {
  using boost::multiprecision::ldexp;
  Precise v = word;
  for (int k = 0; k < 3; ++k) v = ldexp(v, 32) + static_cast<std::uint32_t>(stream.next() >> 32);
  v = ldexp(v + Precise(0.5), -128);
  return Precise(factor) * Precise(score) + gumbel_of(v);
}

}  // namespace

void internal::approximate_gumbels(std::span<const std::uint32_t> words, std::span<float> values) {
  SOTTO_CHECK(words.size() == values.size());
  static const GumbelKernel chosen = kernel();
  const std::size_t groups = words.size() / kGumbelGroup;
  chosen(words.data(), groups, values.data());
  const std::size_t done = groups * kGumbelGroup;
  if (done == words.size()) return;
  std::array<std::uint32_t, kGumbelGroup> last{};
  std::array<float, kGumbelGroup> result{};
  std::copy(words.begin() + static_cast<std::ptrdiff_t>(done), words.end(), last.begin());
  chosen(last.data(), 1, result.data());
  std::copy_n(
      result.begin(), words.size() - done, values.begin() + static_cast<std::ptrdiff_t>(done));
}

GumbelRace::GumbelRace(Stream& stream, double factor)
    : stream_(stream), factor_(factor), best_(-kInfinity) {
  SOTTO_CHECK(std::isfinite(factor));
}

void GumbelRace::enter(std::int64_t first, std::span<const std::int64_t> scores) {
  const std::size_t count = scores.size();
  words_.resize(count);
  gumbels_.resize(count);
  values_.resize(count);
  stream_.fill(std::as_writable_bytes(std::span(words_)));
  internal::approximate_gumbels(words_, gumbels_);
  // Without branches first; a batch without a candidate ends here.
  double top = -kInfinity;
  float least = 0;
  float most = 0;
  for (std::size_t k = 0; k < count; ++k) {
    values_[k] = factor_ * static_cast<double>(scores[k]) + static_cast<double>(gumbels_[k]);
    top = std::max(top, values_[k]);
    least = std::min(least, gumbels_[k]);
    most = std::max(most, gumbels_[k]);
  }
  if (top >= best_ - kNear || least < internal::kGumbelLow || most > internal::kGumbelHigh)
    for (std::size_t k = 0; k < count; ++k) {
      const bool open = gumbels_[k] < internal::kGumbelLow || gumbels_[k] > internal::kGumbelHigh;
      if (!open && values_[k] < best_ - kNear) continue;
      if (!open) best_ = std::max(best_, values_[k]);
      runners_.push_back(
          {first + static_cast<std::int64_t>(k), scores[k], words_[k], values_[k], open});
    }
  if (runners_.size() > kMostRunners) prune();
}

void GumbelRace::prune() {
  std::erase_if(runners_, [this](const Runner& r) { return !r.open && r.value < best_ - kNear; });
}

std::int64_t GumbelRace::winner() {
  SOTTO_CHECK(!runners_.empty());
  prune();
  std::int64_t chosen = runners_.front().index;
  if (runners_.size() > 1) {
    Precise best = 0;
    bool first = true;
    for (const Runner& r : runners_) {
      const Precise value = precise_value(stream_, r.word, factor_, r.score);
      if (!first && value <= best) continue;
      best = value;
      chosen = r.index;
      first = false;
    }
  }
  OPENSSL_cleanse(words_.data(), words_.size() * sizeof words_[0]);
  OPENSSL_cleanse(gumbels_.data(), gumbels_.size() * sizeof gumbels_[0]);
  OPENSSL_cleanse(values_.data(), values_.size() * sizeof values_[0]);
  OPENSSL_cleanse(runners_.data(), runners_.size() * sizeof runners_[0]);
  runners_.clear();
  return chosen;
}

}  // namespace sotto
