#include "sotto/data/toml_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "sotto/core/nearest.hpp"
#include "sotto/core/text.hpp"

namespace sotto {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replace = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replace, diagonal + 1, row[j] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

void TomlReader::complain(const toml::source_region& where, std::string text) {
  mistakes_.push_back({where.begin.line, where.begin.column, std::move(text)});
}

bool TomlReader::is_question(const toml::node& node) {
  const auto* text = node.as_string();
  return text != nullptr && text->get().starts_with(kQuestion);
}

void TomlReader::find_questions(const toml::node& node) {
  if (const auto* table = node.as_table())
    for (const auto& [key, value] : *table) find_questions(value);
  if (const auto* list = node.as_array())
    for (const auto& value : *list) find_questions(value);
  if (!is_question(node)) return;
  std::string_view question = node.as_string()->get();
  question.remove_prefix(kQuestion.size());
  complain(node.source(), fmt::format("a question without an answer:{}", question));
  mistakes_.back().is_question = true;
}

void TomlReader::check_keys(const toml::table& table,
                            const Names& known,
                            const std::string& place) {
  for (const auto& [key, node] : table) {
    const std::string_view word = key.str();
    if (std::find(known.begin(), known.end(), word) != known.end()) continue;
    const auto nearest = std::min_element(known.begin(), known.end(), [&](auto& a, auto& b) {
      return edit_distance(a, word) < edit_distance(b, word);
    });
    complain(key.source(),
             fmt::format("unknown key '{}' in {}; did you mean '{}'? Known keys: {}.",
                         word,
                         place,
                         *nearest,
                         fmt::join(known, ", ")));
  }
}

bool TomlReader::flag(const toml::table& table, std::string_view key, bool otherwise) {
  const toml::node* node = table.get(key);
  if (node == nullptr || is_question(*node)) return otherwise;
  if (const auto value = node->value_exact<bool>()) return *value;
  complain(node->source(), fmt::format("'{}' must be true or false.", key));
  return otherwise;
}

std::string TomlReader::text(const toml::table& table,
                             std::string_view key,
                             std::string otherwise) {
  const toml::node* node = table.get(key);
  if (node == nullptr || is_question(*node)) return otherwise;
  if (auto value = node->value_exact<std::string>()) return *std::move(value);
  complain(node->source(), fmt::format("'{}' must be a text in quotes.", key));
  return otherwise;
}

std::optional<double> TomlReader::number(const toml::table& table, std::string_view key) {
  const toml::node* node = table.get(key);
  return node == nullptr ? std::nullopt : number(*node, key);
}

std::optional<double> TomlReader::number(const toml::node& node, std::string_view key) {
  if (is_question(node)) return std::nullopt;
  if (node.is_number())
    if (const auto value = node.value<double>(); value && std::isfinite(*value)) return *value;
  complain(node.source(), fmt::format("'{}' must be a finite number.", key));
  return std::nullopt;
}

TomlReader::Names TomlReader::texts(const toml::node& node, std::string_view key) {
  Names result;
  bool good = true;
  bool open = false;
  const auto add = [&](const toml::node& item) {
    open = open || is_question(item);
    good = good && (item.is_string() || item.is_integer());
    if (const auto word = item.value_exact<std::string>()) result.push_back(*word);
    if (const auto whole = item.value_exact<std::int64_t>())
      result.push_back(std::to_string(*whole));
  };
  if (const toml::array* list = node.as_array()) {
    for (const toml::node& item : *list) add(item);
  } else {
    add(node);
  }
  if (open) return {};
  if (!good || result.empty()) {
    complain(node.source(), fmt::format("'{}' must be a list of texts, and not empty.", key));
    return {};
  }
  for (const std::string& word : result)
    if (has_control_characters(word)) {
      complain(node.source(),
               fmt::format("'{}' has a text with a control character, which could forge a line "
                           "where it is shown.",
                           key));
      return {};
    }
  return result;
}

std::vector<TomlReader::Names> TomlReader::spellings(const toml::table& table,
                                                     std::string_view key) {
  const toml::node* node = table.get(key);
  if (node != nullptr && is_question(*node)) return {};
  const toml::array* list = node == nullptr ? nullptr : node->as_array();
  if (list == nullptr || list->empty()) {
    complain(node == nullptr ? table.source() : node->source(),
             fmt::format("'{}' must be a list of texts, and not empty.", key));
    return {};
  }
  std::vector<Names> result;
  std::set<std::string> seen;
  for (const toml::node& item : *list) {
    Names words = texts(item, key);
    for (const std::string& word : words)
      if (!seen.insert(word).second)
        complain(item.source(), fmt::format("'{}' names the value '{}' twice.", key, word));
    if (!words.empty()) result.push_back(std::move(words));
  }
  return result;
}

std::optional<std::size_t> TomlReader::choice(const toml::table& table,
                                              std::string_view key,
                                              const Names& known,
                                              const std::string& place) {
  const toml::node* node = table.get(key);
  if (node != nullptr && is_question(*node)) return std::nullopt;
  const auto word = node == nullptr ? std::string() : node->value_exact<std::string>().value_or("");
  const auto found = std::find(known.begin(), known.end(), word);
  if (found != known.end()) return static_cast<std::size_t>(found - known.begin());
  complain(
      node == nullptr ? table.source() : node->source(),
      fmt::format(
          "{} must be one of {}.{}", place, fmt::join(known, ", "), did_you_mean(word, known)));
  return std::nullopt;
}

std::vector<TomlMistake> TomlReader::take_mistakes() {
  std::stable_sort(mistakes_.begin(), mistakes_.end(), [](const auto& a, const auto& b) {
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  });
  return std::exchange(mistakes_, {});
}

tl::unexpected<Error> fail_with(const std::vector<TomlMistake>& mistakes,
                                const std::string& name,
                                std::size_t most) {
  std::vector<std::string> lines;
  std::size_t shown = 0;
  std::size_t more = 0;
  for (const TomlMistake& each : mistakes) {
    if (!each.is_question && ++shown > most)
      ++more;
    else
      lines.push_back(fmt::format("{}:{}:{}: {}", name, each.line, each.column, each.text));
  }
  if (lines.size() == 1) return fail(ErrorKind::kBadData, std::move(lines.front()));
  if (more > 0) lines.push_back(fmt::format("and {} more", more));
  return fail_with_list(ErrorKind::kBadData, lines);
}

}  // namespace sotto
