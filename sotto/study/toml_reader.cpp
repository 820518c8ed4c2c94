#include "sotto/study/toml_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sotto/core/toml.hpp"

namespace sotto::study {
namespace {

/// A number or a text as the text that options are made of.
std::optional<std::string> word_of(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto whole = node.value_exact<std::int64_t>()) return fmt::format("{}", *whole);
  if (const auto number = node.value_exact<double>()) return fmt::format("{}", *number);
  return std::nullopt;
}

}  // namespace

void TomlTable::complain(const toml::source_region& where, const std::string& text) {
  if (error_) return;
  error_ = Error{
      ErrorKind::kBadData,
      fmt::format("{}:{}:{}: {}: {}", file_, where.begin.line, where.begin.column, place_, text)};
}

const toml::node* TomlTable::node(const char* key) {
  read_.emplace_back(key);
  return error_ ? nullptr : table_.get(key);
}

std::string TomlTable::text(const char* key, std::string otherwise) {
  const toml::node* found = node(key);
  if (!found) return otherwise;
  if (auto value = word_of(*found)) return *std::move(value);
  complain(found->source(), fmt::format("'{}' must be a text in quotes or a number.", key));
  return otherwise;
}

std::string TomlTable::required(const char* key) {
  if (!has(key)) complain(fmt::format("'{}' is missing.", key));
  return text(key);
}

std::optional<double> TomlTable::number(const char* key) {
  const toml::node* found = node(key);
  if (!found) return std::nullopt;
  if (found->is_number()) return found->value<double>();
  complain(found->source(), fmt::format("'{}' must be a number.", key));
  return std::nullopt;
}

std::int64_t TomlTable::integer(const char* key, std::int64_t otherwise) {
  const toml::node* found = node(key);
  if (!found) return otherwise;
  if (const auto value = found->value_exact<std::int64_t>()) return *value;
  complain(found->source(), fmt::format("'{}' must be a whole number.", key));
  return otherwise;
}

bool TomlTable::flag(const char* key, bool otherwise) {
  const toml::node* found = node(key);
  if (!found) return otherwise;
  if (const auto value = found->value_exact<bool>()) return *value;
  complain(found->source(), fmt::format("'{}' must be true or false.", key));
  return otherwise;
}

std::vector<std::string> TomlTable::texts(const char* key) {
  std::vector<std::string> result;
  const toml::node* found = node(key);
  if (!found) return result;
  const auto add = [&](const toml::node& item) {
    if (auto word = word_of(item))
      result.push_back(*std::move(word));
    else
      complain(item.source(), fmt::format("'{}' must be a text or a list of texts.", key));
  };
  if (const auto* list = found->as_array())
    for (const auto& item : *list) add(item);
  else
    add(*found);
  return result;
}

std::vector<double> TomlTable::numbers(const char* key) {
  std::vector<double> result;
  const toml::node* found = node(key);
  if (!found) return result;
  const auto add = [&](const toml::node& item) {
    if (item.is_number())
      result.push_back(*item.value<double>());
    else
      complain(item.source(), fmt::format("'{}' must be a number or a list of numbers.", key));
  };
  if (const auto* list = found->as_array())
    for (const auto& item : *list) add(item);
  else
    add(*found);
  return result;
}

const toml::table* TomlTable::table(const char* key) {
  const toml::node* found = node(key);
  if (!found) return nullptr;
  if (const auto* inner = found->as_table()) return inner;
  complain(found->source(), fmt::format("'{}' must be a table.", key));
  return nullptr;
}

std::vector<const toml::table*> TomlTable::tables(const char* key) {
  std::vector<const toml::table*> result;
  const toml::node* found = node(key);
  if (!found) return result;
  if (const auto* list = found->as_array())
    for (const auto& item : *list)
      if (const auto* inner = item.as_table()) result.push_back(inner);
  if (result.empty()) complain(found->source(), fmt::format("write it as [[{}]].", key));
  return result;
}

std::vector<std::pair<std::string, std::string>> TomlTable::words(const char* key) {
  std::vector<std::pair<std::string, std::string>> result;
  const toml::table* inner = table(key);
  if (!inner) return result;
  for (const auto& [name, value] : *inner) {
    if (auto word = word_of(value))
      result.emplace_back(std::string(name.str()), *std::move(word));
    else
      complain(value.source(), fmt::format("'{}' must be a text or a number.", name.str()));
  }
  return result;
}

std::map<std::string, std::vector<double>> TomlTable::number_lists(const char* key) {
  std::map<std::string, std::vector<double>> result;
  const toml::table* inner = table(key);
  if (!inner) return result;
  TomlTable each(*inner, file_, fmt::format("'{}'", key));
  for (const auto& [name, value] : *inner) {
    const std::string word(name.str());
    result[word] = each.numbers(word.c_str());
  }
  if (!error_ && each.error_) error_ = each.error_;
  return result;
}

Expected<void> TomlTable::finish() {
  if (!error_)
    for (const auto& [key, value] : table_)
      if (std::find(read_.begin(), read_.end(), key.str()) == read_.end()) {
        std::vector<std::string> known = read_;
        std::sort(known.begin(), known.end());
        known.erase(std::unique(known.begin(), known.end()), known.end());
        complain(
            key.source(),
            fmt::format("unknown key '{}'. Known keys: {}.", key.str(), fmt::join(known, ", ")));
        break;
      }
  if (error_) return tl::unexpected<Error>(*error_);
  return {};
}

Expected<toml::table> parse_toml(std::string_view text, const std::string& name) {
  auto table = read_toml(text, name);
  if (!table) return fail(ErrorKind::kBadData, table.error().told_of(name));
  return *std::move(table);
}

}  // namespace sotto::study
