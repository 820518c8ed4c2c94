#include "sotto/core/text.hpp"

#include <fmt/format.h>

#include <cstdint>

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

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    std::uint32_t number = 0;
    const std::size_t length = utf8_length(text, number);
    if (length > 0 && (!is_control(number) || number == '\n' || number == '\t')) {
      result += text.substr(0, length);
      text.remove_prefix(length);
    } else {
      const std::size_t bytes = length == 0 ? 1 : length;
      for (const char byte : text.substr(0, bytes))
        result += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
      text.remove_prefix(bytes);
    }
  }
  return result;
}

bool has_control_characters(std::string_view text) {
  while (!text.empty()) {
    std::uint32_t number = 0;
    const std::size_t length = utf8_length(text, number);
    if (length > 0 && is_control(number)) return true;
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return false;
}

}  // namespace sotto
