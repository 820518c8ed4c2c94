#include "sotto/data/unit_order.hpp"

#include <limits>

#include "sotto/core/check.hpp"

namespace sotto {

bool UnitOrder::identity() const {
  for (std::size_t i = 0; i < target_.size(); ++i)
    if (target_[i] != i) return false;
  return true;
}

UnitOrder order_by_unit(const PagedArray<std::int64_t>& units,
                        std::int64_t count,
                        PagedArray<std::int64_t>& offsets) {
  const std::size_t rows = units.size();
  SOTTO_CHECK(rows <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()));
  const auto unit = [&](std::size_t row) { return static_cast<std::size_t>(units[row]); };
  offsets.grow(static_cast<std::size_t>(count) + 1);
  for (std::size_t i = 0; i < rows; ++i) ++offsets[unit(i) + 1];
  for (std::size_t u = 0; u < static_cast<std::size_t>(count); ++u) offsets[u + 1] += offsets[u];
  // Each row takes its unit's next place; afterwards offsets[u] is where u ends, u + 1 begins.
  PagedArray<std::uint32_t> target;
  target.grow(rows);
  for (std::size_t i = 0; i < rows; ++i) target[i] = static_cast<std::uint32_t>(offsets[unit(i)]++);
  for (auto u = static_cast<std::size_t>(count); u > 0; --u) offsets[u] = offsets[u - 1];
  offsets[0] = 0;
  return UnitOrder(std::move(target));
}

}  // namespace sotto
