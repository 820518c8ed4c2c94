// Reads Schema from TOML: all but the keys of features.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "sotto/core/file.hpp"
#include "sotto/data/schema.hpp"
#include "sotto/data/schema_reader.hpp"

namespace sotto {

void SchemaReader::read_file_part(const toml::table& table) {
  schema_.has_file_table = true;
  toml_.check_keys(table, {"header", "separator", "missing", "comment", "skip_lines"}, "[file]");
  schema_.header = toml_.flag(table, "header", false);
  const std::string separator = toml_.text(table, "separator", ",");
  if (separator.size() != 1 || separator[0] == '"' || separator[0] == '\n' || separator[0] == '\r')
    toml_.complain(table.get("separator")->source(),
                   "'separator' must be one character, for example \",\"; blanks around fields are "
                   "dropped anyway.");
  else
    schema_.separator = separator[0];
  schema_.comment = toml_.text(table, "comment", "");
  if (const toml::node* node = table.get("missing"))
    schema_.missing = toml_.texts(*node, "missing");
  const auto skip = toml_.number(table, "skip_lines");
  if (skip && (*skip < 0 || *skip != std::floor(*skip) || *skip > 1e9))
    toml_.complain(table.get("skip_lines")->source(), "'skip_lines' must be a whole number >= 0.");
  else
    schema_.skip_lines = static_cast<std::int64_t>(skip.value_or(0));
}

/// A class is shown with all of its spellings, `NO or >30`.
void SchemaReader::check_shown_classes(const toml::table& table, const Column& column) {
  std::set<std::string> seen;
  for (const std::string& name : column.names())
    if (!seen.insert(name).second)
      toml_.complain(table.source(),
                     fmt::format("label '{}': two classes would both be shown as '{}'. Spell one "
                                 "of them otherwise.",
                                 column.name,
                                 name));
}

void SchemaReader::read_label(const toml::table& table, Column& column) {
  toml_.check_keys(table,
                   {"name", "kind", "positive", "negative", "classes", "min", "max", "case"},
                   "the label column");
  const bool two = table.contains("positive") && table.contains("negative");
  const bool several = table.contains("classes");
  const bool numeric = table.contains("min") || table.contains("max");
  if (int{two} + int{several} + int{numeric} != 1 ||
      table.contains("positive") != table.contains("negative"))
    return toml_.complain(
        table.source(),
        fmt::format("label '{}' must declare either positive and negative (lists of values), "
                    "or classes, or min and max (a numeric label).",
                    column.name));
  if (two) {
    schema_.label = Schema::Label::kTwoClasses;
    const Names negative = toml_.texts(*table.get("negative"), "negative");
    const Names positive = toml_.texts(*table.get("positive"), "positive");
    if (negative.empty() || positive.empty()) return;
    for (const std::string& word : positive)
      if (std::find(negative.begin(), negative.end(), word) != negative.end())
        return toml_.complain(table.get("positive")->source(),
                              fmt::format("label value '{}' is both positive and negative.", word));
    column.values = {negative, positive};
  } else if (several) {
    schema_.label = Schema::Label::kClasses;
    column.values = toml_.spellings(table, "classes");
    if (column.values.size() == 1)
      toml_.complain(table.get("classes")->source(), "'classes' must name at least two classes.");
  } else {
    schema_.label = Schema::Label::kNumeric;
    if (table.contains("case"))
      toml_.complain(
          table.get("case")->source(),
          fmt::format("label '{}' is a number, which has no case: leave it out.", column.name));
    read_bounds(table, column);
    return;
  }
  check_shown_classes(table, column);
  read_case(table, column);
}

void SchemaReader::read_keys(const toml::table& table, Column& column) {
  switch (column.kind) {
    case Kind::kNumeric:
      return read_numeric(table, column);
    case Kind::kCategorical:
      return read_categorical(table, column);
    case Kind::kLabel:
      labels_.push_back(table.source());
      return read_label(table, column);
    case Kind::kOneHot:
      toml_.check_keys(table, {"names", "kind"}, "a group of one-hot columns");
      column.group = schema_.groups();
      return;
    case Kind::kUnit:
      toml_.check_keys(table, {"name", "kind"}, "the unit column");
      if (schema_.has_units) toml_.complain(table.source(), "there is more than one unit column.");
      schema_.has_units = true;
      return;
    case Kind::kIgnore:
      toml_.check_keys(table, {"name", "names", "kind"}, "an ignored column");
      return;
  }
}

void SchemaReader::read_column(const toml::table& table) {
  const Names kinds = {"numeric", "categorical", "onehot", "label", "ignore", "unit"};
  const auto kind = toml_.choice(table, "kind", kinds, "a column's kind");
  has_unknown_kind_ = has_unknown_kind_ || !kind;
  const toml::node* one = table.get("name");
  const toml::node* several = table.get("names");
  if ((one == nullptr) == (several == nullptr))
    toml_.complain(table.source(), "a column needs either name or names (several columns alike).");
  Names names;
  if (one || several) names = several ? toml_.texts(*several, "names") : toml_.texts(*one, "name");
  if (!kind) return;
  Column column;
  column.kind = static_cast<Kind>(*kind);
  column.name = names.empty() ? "without a name" : names.front();
  read_keys(table, column);
  for (const std::string& each : names) {
    column.name = each;
    schema_.columns.push_back(column);
    places_.push_back({table.source().begin.line, table.source().begin.column});
  }
}

void SchemaReader::check_whole(const toml::source_region& where) {
  if (labels_.size() > 1 || (labels_.empty() && !has_unknown_kind_))
    toml_.complain(labels_.empty() ? where : labels_.back(),
                   fmt::format("a schema needs exactly one column of kind \"label\", but has {}.",
                               labels_.size()));
  const auto at = [&](std::size_t c) {
    const toml::source_position place{static_cast<toml::source_index>(places_[c].line),
                                      static_cast<toml::source_index>(places_[c].column)};
    return toml::source_region{place, place, nullptr};
  };
  std::set<std::string> seen;
  for (std::size_t c = 0; c < schema_.columns.size(); ++c)
    if (!seen.insert(schema_.columns[c].name).second)
      toml_.complain(at(c), fmt::format("column '{}' is declared twice.", schema_.columns[c].name));
  if (toml_.failed()) return;
  seen.clear();
  for (std::size_t c = 0; c < schema_.columns.size(); ++c)
    for (const std::string& feature : schema_.columns[c].feature_names())
      if (!seen.insert(feature).second)
        toml_.complain(at(c), fmt::format("two features would be called '{}'.", feature));
  if (seen.empty()) toml_.complain(where, "the schema declares no features.");
}

void SchemaReader::read_root(const toml::table& root) {
  toml_.find_questions(root);
  toml_.check_keys(root, {"file", "column"}, "the schema");
  if (const toml::node* node = root.get("file")) {
    if (const toml::table* table = node->as_table())
      read_file_part(*table);
    else
      toml_.complain(node->source(), "'file' must be a table: [file].");
  }
  const toml::array* columns = root["column"].as_array();
  if (columns == nullptr || !columns->is_array_of_tables())
    return toml_.complain(root.source(), "a schema needs columns: one [[column]] each.");
  for (const toml::node& node : *columns) read_column(*node.as_table());
  check_whole(root.source());
}

SchemaReading SchemaReader::read(std::string_view text) {
  const auto parsed = read_toml(text, "");
  if (parsed)
    read_root(*parsed);
  else
    toml_.complain(parsed.error().where, parsed.error().description + ".");
  schema_.text = text;
  return {std::move(schema_), std::move(places_), toml_.take_mistakes()};
}

SchemaReading SchemaReading::of(std::string_view toml) { return SchemaReader().read(toml); }

Expected<Schema> Schema::parse(std::string_view toml, const std::string& name) {
  SchemaReading reading = SchemaReading::of(toml);
  if (!reading.mistakes.empty()) return fail_with(reading.mistakes, name);
  return std::move(reading.schema);
}

Expected<Schema> Schema::load(const std::string& path) {
  SOTTO_ASSIGN(const std::string text, read_text_file(path));
  return parse(text, path);
}

}  // namespace sotto
