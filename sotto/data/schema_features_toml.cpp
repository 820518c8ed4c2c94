// Reads the keys of a schema's features, and the bounds and spellings that labels have, too.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "sotto/data/date_form.hpp"
#include "sotto/data/io/numbers.hpp"
#include "sotto/data/schema_reader.hpp"
#include "sotto/data/spellings.hpp"

namespace sotto {

std::optional<double> SchemaReader::value(const toml::node& node,
                                          std::string_view key,
                                          const Column& column) {
  if (column.date.empty() || TomlReader::is_question(node)) return toml_.number(node, key);
  const auto form = DateForm::parse(column.date);
  if (!form) return std::nullopt;  // that is the mistake, and the value may well be right
  const auto text = node.value_exact<std::string>();
  const double days = text ? form->days(*text) : NAN;
  if (!std::isnan(days)) return days;
  toml_.complain(node.source(),
                 fmt::format("'{}' of column '{}' must be a date in quotes, of the form {} that "
                             "the column declares.",
                             key,
                             column.name,
                             column.date));
  return std::nullopt;
}

std::optional<double> SchemaReader::value(const toml::table& table,
                                          std::string_view key,
                                          const Column& column) {
  const toml::node* node = table.get(key);
  return node == nullptr ? std::nullopt : value(*node, key, column);
}

std::string SchemaReader::text_of(double value, const Column& column) {
  const auto form = DateForm::parse(column.date);
  return form ? form->text(value) : fmt::format("{}", value);
}

bool SchemaReader::read_bounds(const toml::table& table, Column& column) {
  const auto min = value(table, "min", column);
  const auto max = value(table, "max", column);
  if (!column.edges.empty()) {
    column.min = min.value_or(-std::numeric_limits<double>::infinity());
    column.max = max.value_or(std::numeric_limits<double>::infinity());
    return true;
  }
  if ((!table.contains("min") || !table.contains("max")) && !table.contains("bins"))
    toml_.complain(
        table.source(),
        fmt::format("column '{}' is numeric but does not declare min and max. Bounds taken "
                    "from the rows would leak the most extreme ones; declare public bounds "
                    "that follow from what the column means, for example min = 0 and "
                    "max = 120 for an age.",
                    column.name));
  column.max = 1;  // of what could not be read: nothing else is said of it
  if (!min || !max) return false;
  column.min = *min;
  column.max = *max;
  check_bounds(table, column);
  return true;
}

void SchemaReader::check_bounds(const toml::table& table, const Column& column) {
  const auto complain = [&](const std::string& text) {
    toml_.complain(table.get("min")->source(), text);
  };
  const double min = column.min;
  const double max = column.max;
  if (!(min < max))
    complain(fmt::format("column '{}': min must be less than max, but min is {} and max is {}.",
                         column.name,
                         text_of(min, column),
                         text_of(max, column)));
  else if (!std::isfinite(max - min) || !fits_float(min) || !fits_float(max))
    complain(
        fmt::format("column '{}': min and max must be within what float32 holds (about "
                    "3.4e38), but are {} and {}.",
                    column.name,
                    min,
                    max));
  else if (column.scale == Column::Scale::kLog1p && !(min > -1))
    complain(
        fmt::format("column '{}': scale = \"log1p\" takes log(1 + value), so that min must be "
                    "more than -1, but it is {}.",
                    column.name,
                    min));
  else if (column.scale == Column::Scale::kLog1p && !(std::log1p(min) < std::log1p(max)))
    complain(
        fmt::format("column '{}': min and max, {} and {}, are too near to each other for "
                    "scale = \"log1p\".",
                    column.name,
                    min,
                    max));
}

void SchemaReader::read_date(const toml::table& table, Column& column) {
  const std::string form = toml_.text(table, "date", "");
  if (!table.contains("date") || TomlReader::is_question(*table.get("date"))) return;
  column.date = form;
  if (const auto known = DateForm::parse(form); !known)
    toml_.complain(table.get("date")->source(), known.error().message);
}

void SchemaReader::read_bins(const toml::table& table, Column& column) {
  const toml::node* node = table.get("bins");
  if (node == nullptr || TomlReader::is_question(*node)) return;
  const toml::array* list = node->as_array();
  if (list == nullptr || list->empty()) {
    toml_.complain(node->source(),
                   "'bins' must be a list of edges, and not empty: bins = [30, 50, 70] makes "
                   "four bins.");
    return;
  }
  std::vector<double> edges;
  for (const toml::node& item : *list) {
    const auto edge = value(item, "bins", column);
    if (!edge) return;
    if (!edges.empty() && !(edges.back() < *edge)) {
      toml_.complain(item.source(),
                     fmt::format("column '{}': the edges of bins must rise, but {} follows {}.",
                                 column.name,
                                 text_of(*edge, column),
                                 text_of(edges.back(), column)));
      return;
    }
    edges.push_back(*edge);
  }
  column.edges = std::move(edges);
}

void SchemaReader::read_numeric(const toml::table& table, Column& column) {
  toml_.check_keys(table,
                   {"name",
                    "names",
                    "kind",
                    "min",
                    "max",
                    "filler",
                    "missing_indicator",
                    "scale",
                    "bins",
                    "date"},
                   "a numeric column");
  if (table.contains("scale")) {
    const auto scale = toml_.choice(table, "scale", {"linear", "log1p"}, "'scale'");
    if (scale == 1U) column.scale = Column::Scale::kLog1p;
  }
  read_date(table, column);
  read_bins(table, column);
  if (column.scale == Column::Scale::kLog1p && (!column.date.empty() || table.contains("bins")))
    toml_.complain(table.get("scale")->source(),
                   fmt::format("column '{}': scale = \"log1p\" is for numbers as they are, not for "
                               "dates or bins. Leave one of them out.",
                               column.name));
  const bool bounded = read_bounds(table, column);
  for (const double edge : column.edges)
    if (!(edge > column.min && edge < column.max)) {
      toml_.complain(table.get("bins")->source(),
                     fmt::format("column '{}': the edges of bins must lie between min and max, but "
                                 "{} does not. With bins, min and max can be left out.",
                                 column.name,
                                 text_of(edge, column)));
      break;
    }
  column.filler = value(table, "filler", column);
  if (bounded && column.filler && !(*column.filler >= column.min && *column.filler <= column.max))
    toml_.complain(table.get("filler")->source(),
                   fmt::format("column '{}': filler must lie between min and max.", column.name));
  column.missing_indicator = toml_.flag(table, "missing_indicator", false);
}

/// The value's place, which it gets if it has none.
std::size_t SchemaReader::place_of(const std::string& value, Column& column) const {
  const auto found =
      std::find_if(column.values.begin(), column.values.end(), [&](const Names& spellings) {
        return std::find(spellings.begin(), spellings.end(), value) != spellings.end();
      });
  const auto place = static_cast<std::size_t>(found - column.values.begin());
  if (found == column.values.end()) column.values.push_back({value});
  return place;
}

void SchemaReader::check_ranges(const toml::source_region& where, const Column& column) {
  std::vector<Column::Range> ranges = column.ranges;
  std::sort(
      ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.low < b.low; });
  // Of those that begin before: the one that reaches furthest, and the furthest of another value.
  const Column::Range* first = nullptr;
  const Column::Range* second = nullptr;
  for (const auto& range : ranges) {
    const Column::Range* other = first && first->value == range.value ? second : first;
    if (other && other->high >= range.low) {
      toml_.complain(where,
                     fmt::format("column '{}': the ranges of '{}' and '{}' overlap at {}: a number "
                                 "can be one value only.",
                                 column.name,
                                 column.values[other->value].front(),
                                 column.values[range.value].front(),
                                 range.low));
      return;
    }
    if (!first || range.high > first->high) {
      if (first && first->value != range.value) second = first;
      first = &range;
    } else if (range.value != first->value && (!second || range.high > second->high)) {
      second = &range;
    }
  }
}

void SchemaReader::read_ranges(const toml::table& table, Column& column) {
  const toml::node* node = table.get("ranges");
  if (node == nullptr || TomlReader::is_question(*node)) return;
  constexpr const char* kForm =
      "'ranges' must be a list of values with their numbers: ranges = [[\"diabetes\", 250, 250], "
      "[\"circulatory\", 390, 459]].";
  const toml::array* list = node->as_array();
  if (list == nullptr || list->empty()) return toml_.complain(node->source(), kForm);
  for (const toml::node& item : *list) {
    const toml::array* range = item.as_array();
    if (TomlReader::is_question(item)) continue;
    if (range == nullptr || range->size() != 3 || (*range)[0].is_array()) {
      toml_.complain(item.source(), kForm);
      continue;
    }
    const Names name = toml_.texts((*range)[0], "ranges");
    const auto low = toml_.number((*range)[1], "ranges");
    const auto high = toml_.number((*range)[2], "ranges");
    if (name.empty() || !low || !high) continue;
    if (*low > *high) {
      toml_.complain(item.source(),
                     fmt::format("column '{}': a range of '{}' ends before it begins: from {} to "
                                 "{}.",
                                 column.name,
                                 name.front(),
                                 *low,
                                 *high));
      continue;
    }
    column.ranges.push_back({place_of(name.front(), column), *low, *high});
  }
  check_ranges(node->source(), column);
}

/// Before ranges are read: the name of a range is no spelling that somebody wrote.
void SchemaReader::read_prefix(const toml::table& table, Column& column) {
  const auto prefix = toml_.number(table, "prefix");
  if (!prefix) return;
  if (*prefix < 1 || *prefix != std::floor(*prefix) || *prefix > 1e6)
    return toml_.complain(table.get("prefix")->source(),
                          "'prefix' must be a whole number of characters, at least 1.");
  column.prefix = static_cast<std::int64_t>(*prefix);
  for (const Names& spellings : column.values)
    for (const std::string& word : spellings) {
      const auto characters = std::count_if(word.begin(), word.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xc0U) != 0x80;
      });
      if (characters > column.prefix)
        toml_.complain(table.get("values")->source(),
                       fmt::format("column '{}': no field can be '{}', because only its first {} "
                                   "characters are looked at. Shorten it, or raise prefix.",
                                   column.name,
                                   word,
                                   column.prefix));
    }
}

void SchemaReader::read_case(const toml::table& table, Column& column) {
  if (!table.contains("case")) return;
  if (toml_.choice(table, "case", {"exact", "ignore"}, "'case'") != 1U) return;
  column.ignore_case = true;
  std::map<std::string, std::size_t> seen;
  for (std::size_t v = 0; v < column.values.size(); ++v)
    for (const std::string& word : column.values[v]) {
      const auto [place, is_new] = seen.emplace(small_letters(word), v);
      if (!is_new && place->second != v)
        toml_.complain(table.get("case")->source(),
                       fmt::format("column '{}': without regard to case, '{}' is a spelling of two "
                                   "values.",
                                   column.name,
                                   word));
    }
}

void SchemaReader::read_categorical(const toml::table& table, Column& column) {
  toml_.check_keys(
      table,
      {"name", "names", "kind", "values", "ranges", "prefix", "case", "other", "missing_indicator"},
      "a categorical column");
  if (!table.contains("values") && !table.contains("ranges"))
    toml_.complain(table.source(),
                   fmt::format("column '{}' is categorical but does not declare its values. A list "
                               "taken from the rows would leak rare ones; declare the public list, "
                               "for example values = [\"yes\", \"no\"].",
                               column.name));
  if (table.contains("values")) column.values = toml_.spellings(table, "values");
  read_prefix(table, column);
  read_ranges(table, column);
  read_case(table, column);
  column.other = toml_.flag(table, "other", false);
  column.missing_indicator = toml_.flag(table, "missing_indicator", false);
}

}  // namespace sotto
