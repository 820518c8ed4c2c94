#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace sotto {

/// Of A to Z alone: what other letters are to each other depends on the language.
inline char small_letter(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
inline std::string small_letters(std::string_view text) {
  std::string small(text);
  for (char& c : small) c = small_letter(c);
  return small;
}

/// The first so many characters: bytes of UTF-8 that continue one are not counted.
inline std::string_view first_characters(std::string_view text, std::int64_t count) {
  for (std::size_t k = 0; k < text.size(); ++k)
    if ((static_cast<unsigned char>(text[k]) & 0xc0U) != 0x80 && --count < 0)
      return text.substr(0, k);
  return text;
}

/// Which value a text is a spelling of, found without looking at each: what a column of categories
/// costs per row. A text of up to 16 bytes is its size and two numbers, so that it is hashed and
/// compared without a loop.
class Spellings {
 public:
  static constexpr std::int32_t kNone = -1;

  /// `value`: at least 0. A spelling that is there already keeps its value.
  void add(std::string_view spelling, std::int32_t value);
  /// kNone: of none. (An optional is returned through memory, which costs as much as the search.)
  std::int32_t find(std::string_view text) const {
    if (slots_.empty()) return kNone;
    const Words words = words_of(text);
    for (std::size_t at = place_of(text, words);; at = (at + 1) & mask_) {
      const Slot& slot = slots_[at];
      if (slot.value == kNone) return kNone;
      if (slot.words.first == words.first && slot.words.last == words.last &&
          slot.size == text.size() && (text.size() <= kShort || texts_[slot.text] == text))
        return slot.value;
    }
  }

 private:
  /// The first and the last bytes of a text, which may overlap.
  struct Words {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
  };
  struct Slot {
    Words words;
    std::size_t size = 0;
    std::int32_t value = kNone;
    std::uint32_t text = 0;
  };
  static constexpr std::size_t kShort = 2 * sizeof(std::uint64_t);

  template <class T>
  static std::uint64_t bytes_at(const char* place) {
    T bytes;
    std::memcpy(&bytes, place, sizeof bytes);
    return bytes;
  }
  static Words words_of(std::string_view text) {
    const char* begin = text.data();
    const char* end = begin + text.size();
    if (text.size() >= 8) return {bytes_at<std::uint64_t>(begin), bytes_at<std::uint64_t>(end - 8)};
    if (text.size() >= 4)
      return {bytes_at<std::uint32_t>(begin) | bytes_at<std::uint32_t>(end - 4) << 32U};
    if (text.size() >= 2)
      return {bytes_at<std::uint16_t>(begin) | bytes_at<std::uint16_t>(end - 2) << 16U};
    return {text.empty() ? std::uint64_t{0} : static_cast<unsigned char>(*begin)};
  }
  /// Where to begin to look. The factors are this process's own, so that nobody can choose texts
  /// that all begin at one place.
  std::size_t place_of(std::string_view text, const Words& words) const {
    if (text.size() > kShort) return place_of_long(text);
    return static_cast<std::size_t>(
        (words.first * factors_.first + words.last * factors_.last + text.size() * kSizeFactor) >>
        shift_);
  }
  std::size_t place_of_long(std::string_view text) const;
  void put(const Slot& slot);

  static constexpr std::uint64_t kSizeFactor = 0x9e3779b97f4a7c15;
  std::vector<Slot> slots_;  // a power of two, at most half of them taken
  std::size_t mask_ = 0;
  unsigned shift_ = 0;
  Words factors_;
  std::vector<std::string> texts_;
};

}  // namespace sotto
