#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"

namespace sotto::study {

/// A TOML table that is read key by key; finish() refuses keys that nobody asked for. The first
/// error is kept and everything after it is empty, so that reading needs no check a line.
class TomlTable {
 public:
  /// `place` is how messages call this table.
  TomlTable(const toml::table& table, std::string file, std::string place)
      : table_(table), file_(std::move(file)), place_(std::move(place)) {}

  bool has(std::string_view key) const { return table_.contains(key); }
  std::string text(const char* key, std::string otherwise = "");
  /// A text that must be there.
  std::string required(const char* key);
  /// The value that a required text names; complains about any that the table does not hold.
  template <class E, std::size_t N>
  E word(const char* key, const Named<E> (&table)[N]) {
    const std::string text = required(key);
    const auto value = named_in_file(std::string("'") + key + "'", text, table);
    if (!value && !text.empty()) complain(value.error().message);
    return value.value_or(table[0].value);
  }
  std::optional<double> number(const char* key);
  double number(const char* key, double otherwise) { return number(key).value_or(otherwise); }
  std::int64_t integer(const char* key, std::int64_t otherwise);
  bool flag(const char* key, bool otherwise);
  /// One text, or a list of them.
  std::vector<std::string> texts(const char* key);
  /// One number, or a list of them.
  std::vector<double> numbers(const char* key);
  /// Texts and numbers by name, as texts.
  std::vector<std::pair<std::string, std::string>> words(const char* key);
  /// A number, or a list of numbers, by name.
  std::map<std::string, std::vector<double>> number_lists(const char* key);
  const toml::node* node(const char* key);
  const toml::table* table(const char* key);
  /// The tables of `[[key]]`.
  std::vector<const toml::table*> tables(const char* key);

  /// What went wrong so far: the first error, or a key that was never read.
  Expected<void> finish();
  void complain(const toml::source_region& where, const std::string& text);
  void complain(const std::string& text) { complain(table_.source(), text); }
  const toml::table& raw() const { return table_; }
  const std::string& file() const { return file_; }

 private:
  const toml::table& table_;
  std::string file_;
  std::string place_;
  std::vector<std::string> read_;
  std::optional<Error> error_;
};

/// kBadData with file:line:column where the text is no TOML.
Expected<toml::table> parse_toml(std::string_view text, const std::string& name);

}  // namespace sotto::study
