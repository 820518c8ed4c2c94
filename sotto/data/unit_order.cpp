#include "sotto/data/unit_order.hpp"

#include <limits>

#include "sotto/core/check.hpp"

namespace sotto {

bool UnitOrder::identity() const {
  for (std::size_t i = 0; i < target_.size(); ++i)
    if (target_[i] != i) return false;
  return true;
}

UnitOrder order_by_unit(PagedArray<std::int64_t> units, PagedArray<std::int64_t>& offsets) {
  const std::size_t rows = units.size();
  SOTTO_CHECK(rows <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()));
  PagedArray<std::uint32_t> order;
  order.grow(rows);
  for (std::size_t i = 0; i < rows; ++i) order[i] = static_cast<std::uint32_t>(i);
  const auto by_unit = [&](std::uint32_t a, std::uint32_t b) {
    return units[a] != units[b] ? units[a] < units[b] : a < b;
  };
  std::sort(order.data(), order.data() + rows, by_unit);
  // From here on a unit is known by its first row: sorting by that gives order of appearance.
  std::size_t count = 0;
  for (std::size_t i = 0, next = 0; i < rows; i = next) {
    const std::int64_t unit = units[order[i]];
    for (; next < rows && units[order[next]] == unit; ++next) {
      if (next > i) units[order[next]] = order[i];
    }
    units[order[i]] = order[i];
    ++count;
  }
  std::sort(order.data(), order.data() + rows, by_unit);
  offsets.grow(count + 1);
  for (std::size_t i = 0, u = 0; i < rows; ++i)
    if (i == 0 || units[order[i]] != units[order[i - 1]])
      offsets[u++] = static_cast<std::int64_t>(i);
  offsets[count] = static_cast<std::int64_t>(rows);
  // Turn "which row comes i-th" into "where row i goes", in the memory of `units`' halves.
  for (std::size_t i = 0; i < rows; ++i) units[order[i]] = static_cast<std::int64_t>(i);
  for (std::size_t i = 0; i < rows; ++i) order[i] = static_cast<std::uint32_t>(units[i]);
  return UnitOrder(std::move(order));
}

}  // namespace sotto
