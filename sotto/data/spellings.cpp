#include "sotto/data/spellings.hpp"

#include <bit>
#include <utility>

#include "sotto/core/keyed_hash.hpp"

namespace sotto {

std::size_t Spellings::place_of_long(std::string_view text) const {
  return static_cast<std::size_t>(keyed_hash(text) >> shift_);
}

void Spellings::put(const Slot& slot) {
  std::size_t at = place_of(texts_[slot.text], slot.words);
  while (slots_[at].value != kNone) at = (at + 1) & mask_;
  slots_[at] = slot;
}

void Spellings::add(std::string_view spelling, std::int32_t value) {
  if (find(spelling) != kNone) return;
  if (2 * (texts_.size() + 1) > slots_.size()) {
    // Multiplying by odd random numbers and keeping the upper bits spreads any texts.
    factors_ = {keyed_hash("first") | 1U, keyed_hash("last") | 1U};
    const auto old =
        std::exchange(slots_, std::vector<Slot>(std::bit_ceil(4 * (texts_.size() + 1))));
    mask_ = slots_.size() - 1;
    shift_ = 64U - static_cast<unsigned>(std::countr_zero(slots_.size()));
    for (const Slot& slot : old)
      if (slot.value != kNone) put(slot);
  }
  texts_.emplace_back(spelling);
  put({words_of(spelling), spelling.size(), value, static_cast<std::uint32_t>(texts_.size() - 1)});
}

}  // namespace sotto
