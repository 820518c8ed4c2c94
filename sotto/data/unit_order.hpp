#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sotto/data/paged_array.hpp"

namespace sotto {

/// A permutation of rows that brings the rows of each unit together, stable, in the order of the
/// units' numbers. Applied in place with little extra memory.
class UnitOrder {
 public:
  explicit UnitOrder(PagedArray<std::uint32_t> target) : target_(std::move(target)) {}

  std::int64_t target(std::int64_t row) const { return target_[static_cast<std::size_t>(row)]; }
  bool identity() const;

  /// Moves row r, the elements [from(r), from(r + 1)), to the place [to(t), to(t + 1)), t =
  /// target(r). Needs 1/16 of the elements as extra memory; costs about 8 passes over them.
  template <class T, class From, class To>
  void apply(T* data, const From& from, const To& to) const;

 private:
  PagedArray<std::uint32_t> target_;
};

/// Orders rows by unit, where units[i] < count is row i's, and writes the units' row offsets. Takes
/// at most 2^31 rows.
UnitOrder order_by_unit(const PagedArray<std::int64_t>& units,
                        std::int64_t count,
                        PagedArray<std::int64_t>& offsets);

template <class T, class From, class To>
void UnitOrder::apply(T* data, const From& from, const To& to) const {
  constexpr std::int64_t kRounds = 16;
  const auto rows = static_cast<std::int64_t>(target_.size());
  std::vector<T> block;
  // Each round takes out the rows of the next block of targets, packs the rest against the end and
  // puts the block into the room that this leaves in front of them.
  for (std::int64_t round = 0, first = 0; round < kRounds; ++round) {
    const std::int64_t last = rows * (round + 1) / kRounds;
    block.resize(static_cast<std::size_t>(to(last) - to(first)));
    std::int64_t read = from(rows);
    std::int64_t write = read;
    for (std::int64_t row = rows - 1; row >= 0; --row) {
      const std::int64_t place = target(row);
      if (place < first) continue;
      const std::int64_t length = from(row + 1) - from(row);
      read -= length;
      if (place < last) {
        std::copy_n(data + read, length, block.data() + (to(place) - to(first)));
      } else {
        write -= length;
        if (read != write)
          std::copy_backward(data + read, data + read + length, data + write + length);
      }
    }
    std::copy(block.begin(), block.end(), data + to(first));
    first = last;
  }
}

}  // namespace sotto
