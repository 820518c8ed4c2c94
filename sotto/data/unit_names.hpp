#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sotto {

/// Numbers persons 0, 1, … in the order in which their names first appear. Names are compared by
/// content: two persons whose names share a hash stay two, which a guarantee for persons rests on.
class UnitNames {
 public:
  /// The number of the person of this name.
  std::int64_t number(std::string_view name);
  /// A unit of its own, which no name will ever mean.
  std::int64_t fresh() { return count_++; }
  std::int64_t count() const { return count_; }

 private:
  struct Entry {
    std::uint64_t hash;
    std::int64_t unit;
    std::size_t begin;  // the name's place in text_, up to the next entry's
  };
  std::string_view name(std::size_t entry) const;
  void grow();

  std::vector<std::uint32_t> slots_;  // by hash: 1 + an entry, 0 if free; at most half are taken
  std::vector<Entry> entries_;
  std::string text_;
  std::int64_t count_ = 0;
};

}  // namespace sotto
