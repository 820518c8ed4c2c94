#include "sotto/random/batch_sampler.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <span>

#include "sotto/core/check.hpp"

namespace sotto {
namespace {

constexpr double kLargestBlockRate = 1.0 / 16;
constexpr int kLargestBlockBits = 40;
constexpr int kLargestBitmapBits = 10;  // of a block; to scan more words costs more than to sort
// Below one unit in this many, sorting a batch is cheaper than scanning a bitmap.
constexpr std::int64_t kBitmapSparsity = 1024;

constexpr int kWordBits = 64;

constexpr std::size_t kSpare = 4;

/// out = base + place of each bit, increasing; returns the end. Most words have few bits, at places
/// that no processor can guess: four are written in any case, and those that were not there are
/// written over. There must be room for kSpare more than there are bits.
std::int64_t* write_places(std::uint64_t bits, std::int64_t base, std::int64_t* out) {
  constexpr std::uint64_t kTop = std::uint64_t{1} << 63;
  do {
    int found = 0;
    for (std::size_t k = 0; k < kSpare; ++k) {
      out[k] = base + std::countr_zero(bits | kTop);
      found += bits != 0;
      bits &= bits - 1;
    }
    out += found;
  } while (bits != 0);
  return out;
}

/// A bit for each of 64 bytes: which are below `bound` >= 1, and which are equal to it.
struct Compared {
  std::uint64_t below = 0;
  std::uint64_t equal = 0;
};
Compared compare(const std::array<std::uint8_t, kWordBits>& bytes, std::uint8_t bound) {
  Compared result;
#ifdef __SSE2__
  const __m128i at = _mm_set1_epi8(static_cast<char>(bound));
  const __m128i largest_below = _mm_set1_epi8(static_cast<char>(bound - 1));
  for (std::size_t k = 0; k < kWordBits; k += 16) {
    __m128i some;
    std::memcpy(&some, bytes.data() + k, sizeof some);
    const auto bits = [&](__m128i mask) {
      return static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(mask))) << k;
    };
    result.below |= bits(_mm_cmpeq_epi8(_mm_min_epu8(some, largest_below), some));
    result.equal |= bits(_mm_cmpeq_epi8(some, at));
  }
#else
  for (std::size_t k = 0; k < kWordBits; ++k) {
    result.below |= std::uint64_t{bytes[k] < bound} << k;
    result.equal |= std::uint64_t{bytes[k] == bound} << k;
  }
#endif
  return result;
}

}  // namespace

PoissonBatchSampler::PoissonBatchSampler(std::int64_t population, double rate)
    : population_(population), rate_(rate) {
  SOTTO_CHECK(population >= 0 && population <= std::int64_t{1} << kLargestBlockBits);
  SOTTO_CHECK(rate >= 0 && rate <= 1);
  if (rate == 0 || rate > kLargestBlockRate) return;
  block_bits_ = std::min(kLargestBlockBits, 2 - std::ilogb(rate));
  members_cdf_ = internal::binomial_cdf(block_bits_, rate);
}

void PoissonBatchSampler::draw(Stream& stream, std::vector<std::int64_t>& batch) const {
  batch.clear();
  draw_range(stream, 0, population_, batch);
}

void PoissonBatchSampler::draw_range(Stream& stream,
                                     std::int64_t begin,
                                     std::int64_t end,
                                     std::vector<std::int64_t>& batch) const {
  SOTTO_CHECK(begin >= 0 && begin <= end && end <= population_);
  if (rate_ == 0) return;
  if (rate_ > kLargestBlockRate) {
    draw_by_unit(stream, begin, end, batch);
  } else {
    draw_by_block(stream, begin, end, batch);
  }
}

std::size_t PoissonBatchSampler::bytes_for(std::int64_t units) const {
  const auto count = static_cast<double>(units);
  if (rate_ > kLargestBlockRate) return static_cast<std::size_t>(count * 1.1) + kWordBits;
  // A number of members for each block and a place for each member, a few of them twice.
  const double blocks = count / std::ldexp(1.0, block_bits_) + 1;
  return static_cast<std::size_t>(blocks * 16 + 10 * (count * rate_ + 8));
}

void PoissonBatchSampler::draw_by_unit(Stream& stream,
                                       std::int64_t begin,
                                       std::int64_t end,
                                       std::vector<std::int64_t>& batch) const {
  if (rate_ == 1) {
    const std::size_t first = batch.size();
    batch.resize(first + static_cast<std::size_t>(end - begin));
    std::iota(batch.begin() + static_cast<std::ptrdiff_t>(first), batch.end(), begin);
    return;
  }
  // 2^64 rate is an integer here: a double above 1/16 is a multiple of 2^-57. Most units are
  // decided by the first byte of their number.
  const auto threshold = static_cast<std::uint64_t>(std::ldexp(rate_, 64));
  const auto first_byte = static_cast<std::uint8_t>(threshold >> 56);
  const std::uint64_t rest = threshold & ((std::uint64_t{1} << 56) - 1);
  std::array<std::uint8_t, kWordBits> bytes;
  for (std::int64_t start = begin; start < end; start += kWordBits) {
    stream.fill(std::as_writable_bytes(std::span(bytes)));
    Compared units = compare(bytes, first_byte);
    if (rest > 0)
      for (std::uint64_t ties = units.equal; ties != 0; ties &= ties - 1)
        if (stream.next() >> 8 < rest) units.below |= ties & (0 - ties);
    if (end - start < kWordBits) units.below &= (std::uint64_t{1} << (end - start)) - 1;
    const std::size_t first = batch.size();
    const auto members = static_cast<std::size_t>(std::popcount(units.below));
    batch.resize(first + members + kSpare);
    write_places(units.below, start, batch.data() + first);
    batch.resize(first + members);
  }
}

// Both ways draw positions until enough different ones have come up, with the same words of the
// stream and the same result.

void PoissonBatchSampler::place_with_bitmap(Stream& stream,
                                            std::int64_t start,
                                            std::size_t members,
                                            std::vector<std::int64_t>& batch) const {
  std::array<std::uint64_t, (1 << kLargestBitmapBits) / 64> bitmap;
  const std::size_t words = (std::size_t{1} << block_bits_) / 64;
  std::fill_n(bitmap.begin(), words, 0);
  for (std::size_t placed = 0; placed < members;) {
    const std::uint64_t position = stream.next() >> (64 - block_bits_);
    const std::uint64_t bit = std::uint64_t{1} << (position % 64);
    std::uint64_t& word = bitmap[position / 64];
    placed += (word & bit) == 0;
    word |= bit;
  }
  const std::size_t first = batch.size();
  batch.resize(first + members + kSpare);
  std::int64_t* out = batch.data() + first;
  for (std::size_t w = 0; w < words; ++w)
    out = write_places(bitmap[w], start + static_cast<std::int64_t>(w) * kWordBits, out);
  batch.resize(first + members);
}

void PoissonBatchSampler::place_in_order(Stream& stream,
                                         std::int64_t start,
                                         std::size_t members,
                                         std::vector<std::int64_t>& batch) const {
  const std::size_t first = batch.size();
  while (batch.size() < first + members) {
    const std::int64_t unit =
        start + static_cast<std::int64_t>(stream.next() >> (64 - block_bits_));
    const auto place =
        std::lower_bound(batch.begin() + static_cast<std::ptrdiff_t>(first), batch.end(), unit);
    if (place == batch.end() || *place != unit) batch.insert(place, unit);
  }
}

void PoissonBatchSampler::draw_by_block(Stream& stream,
                                        std::int64_t begin,
                                        std::int64_t end,
                                        std::vector<std::int64_t>& batch) const {
  // How many units of a block are in the batch is binomial, and given that number every set of so
  // many is as likely. Units beyond the range are drawn like all others, then dropped.
  for (std::int64_t start = begin; start < end; start += std::int64_t{1} << block_bits_) {
    const internal::Fraction u = internal::uniform_fraction(stream);
    std::size_t members = 0;
    while (members < members_cdf_.size() && u >= members_cdf_[members]) ++members;

    if (block_bits_ <= kLargestBitmapBits) {
      place_with_bitmap(stream, start, members, batch);
    } else {
      place_in_order(stream, start, members, batch);
    }
  }
  while (!batch.empty() && batch.back() >= end) batch.pop_back();
}

FixedSizeBatchSampler::FixedSizeBatchSampler(std::int64_t batch, std::int64_t population)
    : batch_(batch), population_(population) {
  SOTTO_CHECK(batch >= 0 && batch <= population);
  if (batch >= population / kBitmapSparsity) {
    bitmap_.resize(static_cast<std::size_t>((population + 63) / 64));
  }
}

void FixedSizeBatchSampler::draw(Stream& stream, std::vector<std::int64_t>& batch) {
  batch.clear();
  batch.reserve(static_cast<std::size_t>(batch_));
  if (bitmap_.empty()) {
    draw_with_sort(stream, batch);
  } else {
    draw_with_bitmap(stream, batch);
  }
}

// Both ways draw units until enough different ones have come up: by symmetry every set is as
// likely.

void FixedSizeBatchSampler::draw_with_bitmap(Stream& stream, std::vector<std::int64_t>& batch) {
  std::fill(bitmap_.begin(), bitmap_.end(), 0);
  const bool complement = batch_ > population_ / 2;  // then the units left out are fewer
  std::int64_t missing = complement ? population_ - batch_ : batch_;
  while (missing > 0) {
    const std::uint64_t unit = stream.below(static_cast<std::uint64_t>(population_));
    const std::uint64_t bit = std::uint64_t{1} << (unit % 64);
    std::uint64_t& word = bitmap_[unit / 64];
    missing -= (word & bit) == 0;
    word |= bit;
  }
  for (std::size_t w = 0; w < bitmap_.size(); ++w) {
    for (std::uint64_t bits = complement ? ~bitmap_[w] : bitmap_[w]; bits != 0; bits &= bits - 1) {
      const std::int64_t unit = static_cast<std::int64_t>(w) * 64 + std::countr_zero(bits);
      if (unit < population_) batch.push_back(unit);
    }
  }
}

void FixedSizeBatchSampler::draw_with_sort(Stream& stream, std::vector<std::int64_t>& batch) const {
  while (batch.size() < static_cast<std::size_t>(batch_)) {
    while (batch.size() < static_cast<std::size_t>(batch_)) {
      batch.push_back(
          static_cast<std::int64_t>(stream.below(static_cast<std::uint64_t>(population_))));
    }
    std::sort(batch.begin(), batch.end());
    batch.erase(std::unique(batch.begin(), batch.end()), batch.end());
  }
}

}  // namespace sotto
