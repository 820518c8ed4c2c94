#include "sotto/data/unit_names.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace sotto {

std::int64_t UnitNames::number(std::string_view name) {
  if (2 * (used_ + 1) > slots_.size()) grow();
  // The hash only says where to look.
  const std::uint64_t hash = std::hash<std::string_view>()(name);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
    Slot& slot = slots_[at];
    if (slot.unit < 0) {
      slot = {hash, count_++, text_.size(), name.size()};
      text_ += name;
      ++used_;
      return slot.unit;
    }
    if (slot.hash == hash && std::string_view(text_).substr(slot.begin, slot.length) == name)
      return slot.unit;
  }
}

void UnitNames::grow() {
  const std::vector<Slot> old =
      std::exchange(slots_, std::vector<Slot>(std::max<std::size_t>(64, 2 * slots_.size())));
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.unit < 0) continue;
    std::size_t at = slot.hash & mask;
    while (slots_[at].unit >= 0) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

}  // namespace sotto
