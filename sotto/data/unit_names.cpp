#include "sotto/data/unit_names.hpp"

#include <algorithm>

#include "sotto/core/keyed_hash.hpp"

namespace sotto {

std::string_view UnitNames::name(std::size_t entry) const {
  const std::size_t begin = entries_[entry].begin;
  const std::size_t end = entry + 1 < entries_.size() ? entries_[entry + 1].begin : text_.size();
  return std::string_view(text_).substr(begin, end - begin);
}

std::int64_t UnitNames::number(std::string_view wanted) {
  if (2 * (entries_.size() + 1) > slots_.size()) grow();
  // The hash only says where to look.
  const std::uint64_t hash = keyed_hash(wanted);
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  for (; slots_[at] != 0; at = (at + 1) & mask) {
    const std::size_t entry = slots_[at] - 1;
    if (entries_[entry].hash == hash && name(entry) == wanted) return entries_[entry].unit;
  }
  entries_.push_back({hash, count_, text_.size()});
  slots_[at] = static_cast<std::uint32_t>(entries_.size());
  text_ += wanted;
  return count_++;
}

void UnitNames::grow() {
  slots_.assign(std::max<std::size_t>(64, 2 * slots_.size()), 0);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t entry = 0; entry < entries_.size(); ++entry) {
    std::size_t at = entries_[entry].hash & mask;
    while (slots_[at] != 0) at = (at + 1) & mask;
    slots_[at] = static_cast<std::uint32_t>(entry + 1);
  }
}

}  // namespace sotto
