// Reads Schema from TOML.

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "sotto/core/file.hpp"
#include "sotto/core/nearest.hpp"
#include "sotto/core/text.hpp"
#include "sotto/core/toml.hpp"
#include "sotto/data/io/numbers.hpp"
#include "sotto/data/schema.hpp"

namespace sotto {
namespace {

using Names = std::vector<std::string>;

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

class SchemaReader {
 public:
  explicit SchemaReader(std::string name) : name_(std::move(name)) {}

  Expected<Schema> read(std::string_view text);

 private:
  using Column = Schema::Column;
  using Kind = Schema::Kind;

  tl::unexpected<Error> error(const toml::source_region& where, const std::string& text) const {
    return fail(ErrorKind::kBadData,
                fmt::format("{}:{}:{}: {}", name_, where.begin.line, where.begin.column, text));
  }

  Expected<void> check_keys(const toml::table& table, const Names& known, const std::string& place);
  Expected<bool> flag(const toml::table& table, std::string_view key, bool otherwise);
  Expected<std::string> text(const toml::table& table, std::string_view key, std::string otherwise);
  Expected<std::optional<double>> number(const toml::table& table, std::string_view key);
  Expected<Names> texts(const toml::node& node, std::string_view key);
  Expected<std::vector<Names>> spellings(const toml::table& table, std::string_view key);

  Expected<void> read_file_part(const toml::table& table);
  Expected<void> read_column(const toml::table& table);
  Expected<void> read_numeric(const toml::table& table, Column& column);
  Expected<void> read_categorical(const toml::table& table, Column& column);
  Expected<void> read_label(const toml::table& table, Column& column);
  Expected<void> check_shown_classes(const toml::table& table, const Column& column);
  Expected<void> read_bounds(const toml::table& table, Column& column);
  Expected<void> check_whole(const toml::source_region& where);

  std::string name_;
  Schema schema_;
  int labels_ = 0;
};

Expected<void> SchemaReader::check_keys(const toml::table& table,
                                        const Names& known,
                                        const std::string& place) {
  for (const auto& [key, node] : table) {
    const std::string_view word = key.str();
    if (std::find(known.begin(), known.end(), word) != known.end()) continue;
    const auto nearest = std::min_element(known.begin(), known.end(), [&](auto& a, auto& b) {
      return edit_distance(a, word) < edit_distance(b, word);
    });
    return error(key.source(),
                 fmt::format("unknown key '{}' in {}; did you mean '{}'? Known keys: {}.",
                             word,
                             place,
                             *nearest,
                             fmt::join(known, ", ")));
  }
  return {};
}

Expected<bool> SchemaReader::flag(const toml::table& table, std::string_view key, bool otherwise) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return otherwise;
  if (const auto value = node->value_exact<bool>()) return *value;
  return error(node->source(), fmt::format("'{}' must be true or false.", key));
}

Expected<std::string> SchemaReader::text(const toml::table& table,
                                         std::string_view key,
                                         std::string otherwise) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return otherwise;
  if (auto value = node->value_exact<std::string>()) return *std::move(value);
  return error(node->source(), fmt::format("'{}' must be a text in quotes.", key));
}

Expected<std::optional<double>> SchemaReader::number(const toml::table& table,
                                                     std::string_view key) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return std::nullopt;
  if (node->is_number())
    if (const auto value = node->value<double>(); value && std::isfinite(*value)) return *value;
  return error(node->source(), fmt::format("'{}' must be a finite number.", key));
}

/// A text, or a list of texts; whole numbers may stand without quotes.
Expected<Names> SchemaReader::texts(const toml::node& node, std::string_view key) {
  Names result;
  const auto add = [&](const toml::node& item) {
    if (const auto word = item.value_exact<std::string>()) result.push_back(*word);
    if (const auto whole = item.value_exact<std::int64_t>())
      result.push_back(std::to_string(*whole));
    return item.is_string() || item.is_integer();
  };
  bool good = true;
  if (const toml::array* list = node.as_array()) {
    for (const toml::node& item : *list) good = good && add(item);
  } else {
    good = add(node);
  }
  if (!good || result.empty())
    return error(node.source(), fmt::format("'{}' must be a list of texts, and not empty.", key));
  for (const std::string& word : result)
    if (has_control_characters(word))
      return error(node.source(),
                   fmt::format("'{}' has a text with a control character, which could forge a line "
                               "where it is shown.",
                               key));
  return result;
}

/// A list whose items are a text, or a list of spellings of one value.
Expected<std::vector<Names>> SchemaReader::spellings(const toml::table& table,
                                                     std::string_view key) {
  const toml::array* list = table[key].as_array();
  if (list == nullptr || list->empty())
    return error(table.contains(key) ? table.get(key)->source() : table.source(),
                 fmt::format("'{}' must be a list of texts, and not empty.", key));
  std::vector<Names> result;
  std::set<std::string> seen;
  for (const toml::node& item : *list) {
    SOTTO_ASSIGN(Names words, texts(item, key));
    for (const std::string& word : words)
      if (!seen.insert(word).second)
        return error(item.source(), fmt::format("'{}' names the value '{}' twice.", key, word));
    result.push_back(std::move(words));
  }
  return result;
}

Expected<void> SchemaReader::read_file_part(const toml::table& table) {
  SOTTO_TRY(
      check_keys(table, {"header", "separator", "missing", "comment", "skip_lines"}, "[file]"));
  SOTTO_ASSIGN(schema_.header, flag(table, "header", false));
  SOTTO_ASSIGN(const std::string separator, text(table, "separator", ","));
  if (separator.size() != 1 || separator[0] == '"' || separator[0] == '\n' || separator[0] == '\r')
    return error(table.get("separator")->source(),
                 "'separator' must be one character, for example \",\"; blanks around fields are "
                 "dropped anyway.");
  schema_.separator = separator[0];
  SOTTO_ASSIGN(schema_.comment, text(table, "comment", ""));
  if (const toml::node* node = table.get("missing")) {
    SOTTO_ASSIGN(schema_.missing, texts(*node, "missing"));
  }
  SOTTO_ASSIGN(const auto skip, number(table, "skip_lines"));
  if (skip && (*skip < 0 || *skip != std::floor(*skip) || *skip > 1e9))
    return error(table.get("skip_lines")->source(), "'skip_lines' must be a whole number >= 0.");
  schema_.skip_lines = static_cast<std::int64_t>(skip.value_or(0));
  return {};
}

Expected<void> SchemaReader::read_bounds(const toml::table& table, Column& column) {
  SOTTO_ASSIGN(const auto min, number(table, "min"));
  SOTTO_ASSIGN(const auto max, number(table, "max"));
  if (!min || !max)
    return error(
        table.source(),
        fmt::format("column '{}' is numeric but does not declare min and max. Bounds taken "
                    "from the rows would leak the most extreme ones; declare public bounds "
                    "that follow from what the column means, for example min = 0 and "
                    "max = 120 for an age.",
                    column.name));
  if (!(*min < *max))
    return error(table.get("min")->source(),
                 fmt::format("column '{}': min must be less than max, but min is {} and max is {}.",
                             column.name,
                             *min,
                             *max));
  if (!std::isfinite(*max - *min) || !fits_float(*min) || !fits_float(*max))
    return error(table.get("min")->source(),
                 fmt::format("column '{}': min and max must be within what float32 holds (about "
                             "3.4e38), but are {} and {}.",
                             column.name,
                             *min,
                             *max));
  column.min = *min;
  column.max = *max;
  return {};
}

Expected<void> SchemaReader::read_numeric(const toml::table& table, Column& column) {
  SOTTO_TRY(check_keys(table,
                       {"name", "names", "kind", "min", "max", "filler", "missing_indicator"},
                       "a numeric column"));
  SOTTO_TRY(read_bounds(table, column));
  SOTTO_ASSIGN(column.filler, number(table, "filler"));
  if (column.filler && !(*column.filler >= column.min && *column.filler <= column.max))
    return error(table.get("filler")->source(),
                 fmt::format("column '{}': filler must lie between min and max.", column.name));
  SOTTO_ASSIGN(column.missing_indicator, flag(table, "missing_indicator", false));
  return {};
}

Expected<void> SchemaReader::read_categorical(const toml::table& table, Column& column) {
  SOTTO_TRY(check_keys(table,
                       {"name", "names", "kind", "values", "other", "missing_indicator"},
                       "a categorical column"));
  if (!table.contains("values"))
    return error(table.source(),
                 fmt::format("column '{}' is categorical but does not declare its values. A list "
                             "taken from the rows would leak rare ones; declare the public list, "
                             "for example values = [\"yes\", \"no\"].",
                             column.name));
  SOTTO_ASSIGN(column.values, spellings(table, "values"));
  SOTTO_ASSIGN(column.other, flag(table, "other", false));
  SOTTO_ASSIGN(column.missing_indicator, flag(table, "missing_indicator", false));
  return {};
}

/// A class is shown with all of its spellings, `NO or >30`.
Expected<void> SchemaReader::check_shown_classes(const toml::table& table, const Column& column) {
  std::set<std::string> seen;
  for (const std::string& name : column.names())
    if (!seen.insert(name).second)
      return error(table.source(),
                   fmt::format("label '{}': two classes would both be shown as '{}'. Spell one of "
                               "them otherwise.",
                               column.name,
                               name));
  return {};
}

Expected<void> SchemaReader::read_label(const toml::table& table, Column& column) {
  SOTTO_TRY(check_keys(table,
                       {"name", "kind", "positive", "negative", "classes", "min", "max"},
                       "the label column"));
  const bool two = table.contains("positive") && table.contains("negative");
  const bool several = table.contains("classes");
  const bool numeric = table.contains("min") || table.contains("max");
  if (int{two} + int{several} + int{numeric} != 1 ||
      table.contains("positive") != table.contains("negative"))
    return error(
        table.source(),
        fmt::format("label '{}' must declare either positive and negative (lists of values), "
                    "or classes, or min and max (a numeric label).",
                    column.name));
  if (two) {
    schema_.label = Schema::Label::kTwoClasses;
    SOTTO_ASSIGN(Names negative, texts(*table.get("negative"), "negative"));
    SOTTO_ASSIGN(Names positive, texts(*table.get("positive"), "positive"));
    for (const std::string& word : positive)
      if (std::find(negative.begin(), negative.end(), word) != negative.end())
        return error(table.get("positive")->source(),
                     fmt::format("label value '{}' is both positive and negative.", word));
    column.values = {std::move(negative), std::move(positive)};
    return check_shown_classes(table, column);
  }
  if (several) {
    schema_.label = Schema::Label::kClasses;
    SOTTO_ASSIGN(column.values, spellings(table, "classes"));
    if (column.values.size() < 2)
      return error(table.get("classes")->source(), "'classes' must name at least two classes.");
    return check_shown_classes(table, column);
  }
  schema_.label = Schema::Label::kNumeric;
  return read_bounds(table, column);
}

Expected<void> SchemaReader::read_column(const toml::table& table) {
  const Names kinds = {"numeric", "categorical", "onehot", "label", "ignore", "unit"};
  SOTTO_ASSIGN(const std::string kind, text(table, "kind", ""));
  const auto place = std::find(kinds.begin(), kinds.end(), kind);
  if (place == kinds.end())
    return error(table.contains("kind") ? table.get("kind")->source() : table.source(),
                 fmt::format("a column's kind must be one of {}.{}",
                             fmt::join(kinds, ", "),
                             did_you_mean(kind, kinds)));
  Column column;
  column.kind = static_cast<Kind>(place - kinds.begin());
  if (table.contains("name") == table.contains("names"))
    return error(table.source(), "a column needs either name or names (several columns alike).");
  const bool several = table.contains("names");
  SOTTO_ASSIGN(const Names names,
               several ? texts(*table.get("names"), "names") : texts(*table.get("name"), "name"));
  column.name = names.front();
  switch (column.kind) {
    case Kind::kNumeric:
      SOTTO_TRY(read_numeric(table, column));
      break;
    case Kind::kCategorical:
      SOTTO_TRY(read_categorical(table, column));
      break;
    case Kind::kLabel:
      SOTTO_TRY(read_label(table, column));
      ++labels_;
      break;
    case Kind::kOneHot:
      SOTTO_TRY(check_keys(table, {"names", "kind"}, "a group of one-hot columns"));
      column.group = schema_.groups();
      break;
    case Kind::kUnit:
      SOTTO_TRY(check_keys(table, {"name", "kind"}, "the unit column"));
      if (schema_.has_units) return error(table.source(), "there is more than one unit column.");
      schema_.has_units = true;
      break;
    case Kind::kIgnore:
      SOTTO_TRY(check_keys(table, {"name", "names", "kind"}, "an ignored column"));
      break;
  }
  for (const std::string& each : names) {
    column.name = each;
    schema_.columns.push_back(column);
  }
  return {};
}

Expected<void> SchemaReader::check_whole(const toml::source_region& where) {
  if (labels_ != 1)
    return error(
        where,
        fmt::format("a schema needs exactly one column of kind \"label\", but has {}.", labels_));
  std::set<std::string> seen;
  for (const Column& column : schema_.columns)
    if (!seen.insert(column.name).second)
      return error(where, fmt::format("column '{}' is declared twice.", column.name));
  seen.clear();
  const Names features = schema_.feature_names();
  if (features.empty()) return error(where, "the schema declares no features.");
  for (const std::string& feature : features)
    if (!seen.insert(feature).second)
      return error(where, fmt::format("two features would be called '{}'.", feature));
  return {};
}

Expected<Schema> SchemaReader::read(std::string_view text) {
  const auto parsed = read_toml(text, name_);
  if (!parsed) return error(parsed.error().where, parsed.error().description + ".");
  const toml::table& root = *parsed;
  SOTTO_TRY(check_keys(root, {"file", "column"}, "the schema"));
  if (const toml::node* node = root.get("file")) {
    if (!node->is_table()) return error(node->source(), "'file' must be a table: [file].");
    SOTTO_TRY(read_file_part(*node->as_table()));
  }
  const toml::array* columns = root["column"].as_array();
  if (columns == nullptr || !columns->is_array_of_tables())
    return error(root.source(), "a schema needs columns: one [[column]] each.");
  for (const toml::node& node : *columns) SOTTO_TRY(read_column(*node.as_table()));
  SOTTO_TRY(check_whole(root.source()));
  return std::move(schema_);
}

}  // namespace

Expected<Schema> Schema::parse(std::string_view toml, const std::string& name) {
  SOTTO_ASSIGN(Schema schema, SchemaReader(name).read(toml));
  schema.text = toml;
  return schema;
}

Expected<Schema> Schema::load(const std::string& path) {
  SOTTO_ASSIGN(const std::string text, read_text_file(path));
  return parse(text, path);
}

}  // namespace sotto
