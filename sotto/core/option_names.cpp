#include "sotto/core/option_names.hpp"

#include <algorithm>

namespace sotto {
namespace {

constexpr std::string_view kOpen = "‘", kClose = "’";
constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz_0123456789";

}  // namespace

std::string marked(std::string_view name) {
  return std::string(kOpen) + std::string(name) + std::string(kClose);
}

std::string with_options(
    std::string_view text,
    const std::function<std::string(std::string_view, std::string_view)>& spell) {
  std::string result;
  while (true) {
    const std::size_t open = text.find(kOpen);
    const std::size_t close = open == text.npos ? open : text.find(kClose, open);
    if (close == text.npos) return result += text;
    const std::string_view inside = text.substr(open + kOpen.size(), close - open - kOpen.size());
    const std::size_t end = std::min(inside.find_first_not_of(kLetters), inside.size());
    result += text.substr(0, open);
    // What is quoted so and is no option, a text of the user's, stays.
    if (end > 0 && end == inside.size())
      result += spell(inside, {});
    else if (end > 0 && inside[end] == ' ')
      result += spell(inside.substr(0, end), inside.substr(end + 1));
    else
      result += text.substr(open, close + kClose.size() - open);
    text.remove_prefix(close + kClose.size());
  }
}

std::string flag_of(std::string_view name) {
  std::string text = "--" + std::string(name);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

std::string with_flags(std::string_view text) {
  return with_options(text, [](std::string_view name, std::string_view value) {
    return flag_of(name) + (value.empty() ? "" : " ") + std::string(value);
  });
}

}  // namespace sotto
