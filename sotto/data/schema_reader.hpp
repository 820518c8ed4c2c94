#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/toml.hpp"
#include "sotto/data/schema_reading.hpp"
#include "sotto/data/toml_reader.hpp"

namespace sotto {

/// Reads one schema, once: what SchemaReading::of does.
class SchemaReader {
 public:
  SchemaReading read(std::string_view text);

 private:
  using Names = TomlReader::Names;
  using Column = Schema::Column;
  using Kind = Schema::Kind;

  void read_root(const toml::table& root);
  void read_file_part(const toml::table& table);
  void read_column(const toml::table& table);
  void read_keys(const toml::table& table, Column& column);
  void read_numeric(const toml::table& table, Column& column);
  void read_bins(const toml::table& table, Column& column);
  void read_date(const toml::table& table, Column& column);
  void read_categorical(const toml::table& table, Column& column);
  void read_prefix(const toml::table& table, Column& column);
  void read_ranges(const toml::table& table, Column& column);
  void check_ranges(const toml::source_region& where, const Column& column);
  void read_label(const toml::table& table, Column& column);
  void read_case(const toml::table& table, Column& column);
  void check_shown_classes(const toml::table& table, const Column& column);
  /// Whether they are known.
  bool read_bounds(const toml::table& table, Column& column);
  void check_bounds(const toml::table& table, const Column& column);
  void check_whole(const toml::source_region& where);

  /// A number in the unit of the column: a date of its form.
  std::optional<double> value(const toml::node& node, std::string_view key, const Column& column);
  std::optional<double> value(const toml::table& table, std::string_view key, const Column& column);
  /// As the schema has it.
  static std::string text_of(double value, const Column& column);
  std::size_t place_of(const std::string& value, Column& column) const;

  TomlReader toml_;
  Schema schema_;
  std::vector<SchemaReading::Place> places_;
  std::vector<toml::source_region> labels_;
  bool has_unknown_kind_ = false;
};

}  // namespace sotto
