#include "sotto/core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

namespace sotto {
namespace {

/// The length in bytes of the UTF-8 character that `text` begins with, and its number; 0 if it
/// begins with none.
std::size_t utf8_length(std::string_view text, std::uint32_t& number) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned first = byte(0);
  const std::size_t length = first < 0x80                    ? 1
                             : first >= 0xc2 && first < 0xe0 ? 2
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xf0 && first < 0xf5 ? 4
                                                             : 0;
  if (length == 0 || text.size() < length) return 0;
  number = length == 1 ? first : first & (0xffU >> (length + 1));
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(k) & 0xc0U) != 0x80) return 0;
    number = (number << 6U) | (byte(k) & 0x3fU);
  }
  const bool overlong = (length == 3 && number < 0x800) || (length == 4 && number < 0x10000);
  const bool surrogate = number >= 0xd800 && number < 0xe000;
  return overlong || surrogate || number > 0x10ffff ? 0 : length;
}

/// C0, DEL and C1.
bool is_control(std::uint32_t number) { return number < 0x20 || (number >= 0x7f && number < 0xa0); }

/// Line and paragraph separators, directions of writing, marks without a width, tags: they change
/// how other characters are shown and are not seen themselves.
bool is_unseen(std::uint32_t number) {
  constexpr std::pair<std::uint32_t, std::uint32_t> kRanges[] = {{0xad, 0xad},
                                                                 {0x61c, 0x61c},
                                                                 {0x180e, 0x180e},
                                                                 {0x200b, 0x200f},
                                                                 {0x2028, 0x202e},
                                                                 {0x2060, 0x206f},
                                                                 {0xfeff, 0xfeff},
                                                                 {0xfff9, 0xfffb},
                                                                 {0xe0000, 0xe007f}};
  return std::any_of(std::begin(kRanges), std::end(kRanges), [&](const auto& range) {
    return number >= range.first && number <= range.second;
  });
}

/// Line and paragraph separators. Marks without a width, and those that say in which direction to
/// read, are parts of words in some languages: a terminal is shown them escaped.
bool ends_lines(std::uint32_t number) { return number == 0x2028 || number == 0x2029; }

/// `hide` says which characters are written by `spell`, which gets their bytes and their number;
/// bytes that are no character have the number 0xfffd.
template <class Hide, class Spell>
std::string spelled(std::string_view text, Hide hide, Spell spell) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    std::uint32_t number = 0xfffd;
    const std::size_t length = utf8_length(text, number);
    const std::string_view bytes = text.substr(0, length == 0 ? 1 : length);
    if (length > 0 && !hide(number))
      result += bytes;
    else
      result += spell(bytes, length == 0 ? 0xfffd : number);
    text.remove_prefix(bytes.size());
  }
  return result;
}

std::string as_bytes(std::string_view bytes, std::uint32_t) {
  std::string result;
  for (const char byte : bytes)
    result += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  return result;
}

bool breaks(std::uint32_t number) { return number == '\n' || number == '\t'; }

}  // namespace

std::string escaped(std::string_view text) {
  return spelled(
      text,
      [](std::uint32_t c) { return (is_control(c) && !breaks(c)) || is_unseen(c); },
      as_bytes);
}

std::string on_one_line(std::string_view text) {
  return spelled(
      text, [](std::uint32_t c) { return is_control(c) || is_unseen(c); }, as_bytes);
}

tl::unexpected<Error> fail_with_list(ErrorKind kind, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + on_one_line(line);
  return tl::unexpected<Error>(Error{kind, std::move(text), true});
}

std::string escaped_json(std::string_view text) {
  return spelled(
      text,
      [](std::uint32_t c) { return (is_control(c) && !breaks(c)) || is_unseen(c); },
      [](std::string_view, std::uint32_t c) {
        if (c < 0x10000) return fmt::format("\\u{:04x}", c);
        const std::uint32_t rest = c - 0x10000;
        return fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + (rest >> 10U), 0xdc00 + (rest & 0x3ffU));
      });
}

bool has_control_characters(std::string_view text) {
  while (!text.empty()) {
    std::uint32_t number = 0;
    const std::size_t length = utf8_length(text, number);
    if (length > 0 && (is_control(number) || ends_lines(number))) return true;
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return false;
}

}  // namespace sotto
