#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/toml.hpp"

namespace sotto {

/// A mistake in a text of TOML, and where.
struct TomlMistake {
  std::int64_t line = 0;
  std::int64_t column = 0;
  std::string text;
  bool is_question = false;  ///< of a draft, not answered yet
};

/// With which a question begins.
inline constexpr std::string_view kQuestion = "TODO:";

/// Reads values of TOML and collects what is wrong with them, so that whoever wrote them is told
/// all of it at once. What can't be read is as if it were not there. A text that begins with
/// "TODO:" is a question that a draft left open, and a mistake wherever it stands.
class TomlReader {
 public:
  using Names = std::vector<std::string>;

  void complain(const toml::source_region& where, std::string text);
  /// All questions below this node.
  void find_questions(const toml::node& node);
  static bool is_question(const toml::node& node);

  void check_keys(const toml::table& table, const Names& known, const std::string& place);
  bool flag(const toml::table& table, std::string_view key, bool otherwise);
  std::string text(const toml::table& table, std::string_view key, std::string otherwise);
  std::optional<double> number(const toml::table& table, std::string_view key);
  std::optional<double> number(const toml::node& node, std::string_view key);
  /// A text, or a list of texts; whole numbers may stand without quotes. Empty: it is none.
  Names texts(const toml::node& node, std::string_view key);
  /// A list whose items are a text, or a list of spellings of one value.
  std::vector<Names> spellings(const toml::table& table, std::string_view key);
  /// The one of these that a text is; none: it is another, or not there.
  std::optional<std::size_t> choice(const toml::table& table,
                                    std::string_view key,
                                    const Names& known,
                                    const std::string& place);

  bool failed() const { return !mistakes_.empty(); }
  /// By place.
  std::vector<TomlMistake> take_mistakes();

 private:
  std::vector<TomlMistake> mistakes_;
};

/// kBadData, with a line `name:line:column: text` for each: all questions, and the first `most`
/// others.
tl::unexpected<Error> fail_with(const std::vector<TomlMistake>& mistakes,
                                const std::string& name,
                                std::size_t most = 20);

}  // namespace sotto
