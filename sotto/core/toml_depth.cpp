#include "sotto/core/toml_depth.hpp"

#include <algorithm>

namespace sotto {
namespace {

/// Whether the byte belongs to a character of UTF-8 that began before it.
bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

/// Tells strings and comments from the rest exactly as toml++ does, up to the first mistake, where
/// toml++ ends: a string that ended earlier here than there could hide a key behind it.
class KeyScan {
 public:
  explicit KeyScan(std::string_view text) : text_(text) {}

  std::optional<TextPlace> deep_key() {
    std::size_t parts = 1;
    while (at_ < text_.size()) {
      switch (text_[at_]) {
        case '"':
        case '\'':
          skip_string();
          continue;
        case '#':
          at_ = std::min(text_.find('\n', at_), text_.size());
          continue;
        case '.':
          if (++parts > kMostKeyParts) return place();
          break;
        // What no key goes across. In a list of decimals each comma begins anew.
        case '=':
        case ']':
          if (parts > 1 && ++dotted_ > kMostDottedKeys) return place();
          parts = 1;
          break;
        case '[':
          if (ahead(1) == '[' && begins_line() && ++listed_ > kMostListedTables) return place();
          parts = 1;
          break;
        case '\n':
        case ',':
        case '{':
        case '}':
          parts = 1;
          break;
        default:
          break;
      }
      ++at_;
    }
    return std::nullopt;
  }

 private:
  /// The byte so far ahead; behind the end it is none that a string is made of.
  char ahead(std::size_t bytes) const {
    return at_ + bytes < text_.size() ? text_[at_ + bytes] : '\0';
  }

  /// Whether only blanks stand before this byte in its line.
  bool begins_line() const {
    std::size_t before = at_;
    while (before > 0 && (text_[before - 1] == ' ' || text_[before - 1] == '\t')) --before;
    return before == 0 || text_[before - 1] == '\n';
  }

  void skip_string() {
    const char quote = text_[at_];
    const bool has_lines = ahead(1) == quote && ahead(2) == quote;
    at_ += has_lines ? 3 : 1;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == quote) {
        // Up to two may stand before the three that end a string of several lines.
        std::size_t quotes = 1;
        while (has_lines && quotes < 5 && ahead(quotes) == quote) ++quotes;
        at_ += quotes;
        if (!has_lines || quotes >= 3) return;
      } else if (c == '\\' && quote == '"') {
        skip_escape();
      } else if (c == '\n' && !has_lines) {
        return;
      } else {
        ++at_;
      }
    }
  }

  void skip_escape() {
    const char kind = ahead(1);
    at_ += 2;
    // toml++ 3.3 takes whatever follows for digits, quotes and line breaks among them.
    const int digits = kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    for (int k = 0; k < digits && at_ < text_.size(); ++k) {
      ++at_;
      while (continues(ahead(0))) ++at_;
    }
  }

  TextPlace place() const {
    const std::string_view before = text_.substr(0, at_);
    const std::size_t line_break = before.rfind('\n');
    const std::string_view line =
        line_break == before.npos ? before : before.substr(line_break + 1);
    TextPlace place;
    place.line = 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
    place.column = 1 + static_cast<std::size_t>(std::count_if(
                           line.begin(), line.end(), [](char byte) { return !continues(byte); }));
    return place;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t dotted_ = 0;
  std::size_t listed_ = 0;
};

}  // namespace

std::optional<TextPlace> find_deep_key(std::string_view toml) { return KeyScan(toml).deep_key(); }

}  // namespace sotto
