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
  struct Slot {
    std::uint64_t hash = 0;
    std::int64_t unit = -1;  // -1: free
    std::size_t begin = 0;   // the name's place in text_
    std::size_t length = 0;
  };
  void grow();

  std::vector<Slot> slots_;  // a power of two, at most half full
  std::size_t used_ = 0;
  std::string text_;
  std::int64_t count_ = 0;
};

}  // namespace sotto
