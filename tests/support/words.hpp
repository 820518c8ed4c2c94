#pragma once

#include <algorithm>
#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sotto::testing {

/// A command line. A string literal is split at its blanks; any other text, a `const char*` among
/// them, is one word as it is:
///
///     Words{"train --epsilon 1 --delta 1e-5", dir.file("rows.svm"), std::string("a b")}
class Words : public std::vector<std::string> {
 public:
  /// A literal, or a word. It views a text that lives as long as the list that it is in.
  class Piece {
   public:
    template <std::size_t kSize>
    Piece(const char (&literal)[kSize]) : text_(literal), literal_(true) {}
    template <std::same_as<const char*> Pointer>
    Piece(const Pointer& word) : text_(word) {}
    Piece(const std::string& word) : text_(word) {}

   private:
    friend class Words;
    std::string_view text_;
    bool literal_ = false;
  };

  Words() = default;
  Words(std::initializer_list<Piece> pieces) {
    for (const Piece& piece : pieces) add(piece);
  }
  template <std::convertible_to<Piece> Text>
  Words(const Text& text) {
    add(text);
  }

  Words& operator+=(const Words& more) {
    insert(end(), more.begin(), more.end());
    return *this;
  }
  friend Words operator+(Words words, const Words& more) { return std::move(words += more); }

 private:
  void add(const Piece& piece) {
    if (!piece.literal_) {
      emplace_back(piece.text_);
      return;
    }
    for (std::string_view rest = piece.text_; !rest.empty();) {
      const std::string_view word = rest.substr(0, rest.find(' '));
      if (!word.empty()) emplace_back(word);
      rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    }
  }
};

}  // namespace sotto::testing
