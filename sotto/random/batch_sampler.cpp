#include "sotto/random/batch_sampler.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "sotto/core/check.hpp"

namespace sotto {
namespace {

constexpr double kLargestBlockRate = 1.0 / 16;
constexpr int kLargestBlockBits = 40;
constexpr int kLargestBitmapBits = 10;  // of a block; to scan more words costs more than to sort
// Below one unit in this many, sorting a batch is cheaper than scanning a bitmap.
constexpr std::int64_t kBitmapSparsity = 1024;

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
  if (rate_ == 0) return;
  if (rate_ > kLargestBlockRate) {
    draw_by_unit(stream, batch);
  } else {
    draw_by_block(stream, batch);
  }
}

void PoissonBatchSampler::draw_by_unit(Stream& stream, std::vector<std::int64_t>& batch) const {
  // 2^64 rate is an integer here: a double above 1/16 is a multiple of 2^-57.
  const bool all = rate_ == 1;
  const std::uint64_t threshold = all ? 0 : static_cast<std::uint64_t>(std::ldexp(rate_, 64));
  for (std::int64_t unit = 0; unit < population_; ++unit) {
    if (all || stream.next() < threshold) batch.push_back(unit);
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
  // Most words hold few units, at places that no processor can guess: four are written in any case,
  // and those that were not there are written over.
  constexpr std::uint64_t kTop = std::uint64_t{1} << 63;
  const std::size_t first = batch.size();
  batch.resize(first + members + 4);
  std::int64_t* out = batch.data() + first;
  for (std::size_t w = 0; w < words; ++w) {
    const std::int64_t base = start + static_cast<std::int64_t>(w) * 64;
    std::uint64_t bits = bitmap[w];
    do {
      int found = 0;
      for (int k = 0; k < 4; ++k) {
        out[k] = base + std::countr_zero(bits | kTop);
        found += bits != 0;
        bits &= bits - 1;
      }
      out += found;
    } while (bits != 0);
  }
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

void PoissonBatchSampler::draw_by_block(Stream& stream, std::vector<std::int64_t>& batch) const {
  // How many units of a block are in the batch is binomial, and given that number every set of so
  // many is as likely. Units beyond the population are drawn like all others, then dropped.
  for (std::int64_t start = 0; start < population_; start += std::int64_t{1} << block_bits_) {
    const internal::Fraction u = internal::uniform_fraction(stream);
    std::size_t members = 0;
    while (members < members_cdf_.size() && u >= members_cdf_[members]) ++members;

    if (block_bits_ <= kLargestBitmapBits) {
      place_with_bitmap(stream, start, members, batch);
    } else {
      place_in_order(stream, start, members, batch);
    }
  }
  while (!batch.empty() && batch.back() >= population_) batch.pop_back();
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
