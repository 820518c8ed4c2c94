#include "sotto/data/dictionary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "sotto/core/file.hpp"
#include "sotto/core/text.hpp"
#include "sotto/data/date_form.hpp"
#include "sotto/data/io/csv_splitter.hpp"
#include "sotto/data/io/numbers.hpp"
#include "sotto/data/spellings.hpp"
#include "sotto/data/toml_reader.hpp"

namespace sotto {
namespace {

using DictionaryType = ColumnFacts::Type;

/// A word, or the beginning of `varchar(20)`.
std::optional<DictionaryType> type_called(std::string_view word) {
  const std::string small = small_letters(word.substr(0, word.find('(')));
  static const std::pair<DictionaryType, std::vector<std::string>> kTypes[] = {
      {DictionaryType::kUnknown, {""}},
      {DictionaryType::kInteger, {"integer", "int", "bigint", "smallint", "count", "whole"}},
      {DictionaryType::kReal,
       {"real", "float", "double", "decimal", "numeric", "number", "continuous"}},
      {DictionaryType::kText,
       {"text",
        "string",
        "char",
        "varchar",
        "categorical",
        "category",
        "enum",
        "code",
        "radio",
        "dropdown"}},
      {DictionaryType::kBoolean, {"boolean", "bool", "yesno", "truefalse", "flag"}},
      {DictionaryType::kDate, {"date"}},
      {DictionaryType::kTime, {"time", "datetime", "timestamp"}},
  };
  for (const auto& [type, words] : kTypes)
    if (std::find(words.begin(), words.end(), small) != words.end()) return type;
  return std::nullopt;
}

std::string without_blanks_around(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t") - begin + 1));
}

/// A number, or a date's days. NaN if it is none.
double bound_in(const std::string& text, DictionaryType type) {
  if (type == DictionaryType::kDate || type == DictionaryType::kTime) {
    static const DateForm form = *DateForm::parse("%Y-%m-%d");
    return form.days(text);
  }
  double value = 0;
  const char* end = text.data() + text.size();
  const bool whole = !text.empty() && parse_number(text.data(), end, value) == end;
  return whole && std::isfinite(value) ? value : NAN;
}

/// `F=Female | M=Male`, `1, Female | 2, Male` and `F | M`: the codes are values, and what they mean
/// belongs to the column's description.
void read_codes(std::string_view text, ColumnFacts& facts) {
  const char between = text.find('|') != text.npos ? '|' : text.find(';') != text.npos ? ';' : ',';
  std::string meanings;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(between, begin), text.size());
    const std::string_view item = text.substr(begin, end - begin);
    begin = end + 1;
    std::size_t sign = item.find('=');
    if (sign == item.npos && between != ',') sign = item.find(',');
    const std::string code = without_blanks_around(item.substr(0, std::min(sign, item.size())));
    if (code.empty()) continue;
    facts.values.push_back(code);
    if (sign == item.npos) continue;
    meanings += fmt::format("{}{} = {}",
                            meanings.empty() ? "" : ", ",
                            code,
                            without_blanks_around(item.substr(sign + 1)));
  }
  if (!meanings.empty()) facts.comment += (facts.comment.empty() ? "" : ": ") + meanings;
}

/// The headings that are read, each by any of its names.
enum Heading { kName, kType, kMin, kMax, kValues, kDescription, kHeadings };
const std::array<std::vector<std::string>, kHeadings> kHeadingNames = {{
    {"column", "name", "variable", "field", "variable / field name"},
    {"type", "field type", "data type", "datatype"},
    {"min", "minimum", "text validation min"},
    {"max", "maximum", "text validation max"},
    {"values", "codes", "choices", "choices, calculations, or slider labels"},
    {"description", "label", "field label", "comment", "meaning"},
}};

class DictionaryLines {
 public:
  explicit DictionaryLines(const std::string& name) : name_(name) {}
  Expected<std::vector<ColumnFacts>> read(const std::string& text);

 private:
  void complain(std::int64_t line, std::size_t field, std::string text) {
    mistakes_.push_back({line, static_cast<std::int64_t>(field) + 1, std::move(text)});
  }
  void read_headings(std::span<const std::string_view> fields, std::int64_t line);
  void read_line(std::span<const std::string_view> fields, std::int64_t line);
  std::string field(std::span<const std::string_view> fields, Heading heading) const {
    const std::size_t place = places_[heading];
    return place < fields.size() ? std::string(fields[place]) : "";
  }

  std::string name_;
  std::array<std::size_t, kHeadings> places_{};
  std::vector<ColumnFacts> columns_;
  std::vector<TomlMistake> mistakes_;
};

void DictionaryLines::read_headings(std::span<const std::string_view> fields, std::int64_t line) {
  for (std::size_t heading = 0; heading < kHeadings; ++heading) {
    const auto& names = kHeadingNames[heading];
    const auto found = std::find_if(fields.begin(), fields.end(), [&](std::string_view field) {
      return std::find(names.begin(), names.end(), small_letters(field)) != names.end();
    });
    places_[heading] = static_cast<std::size_t>(found - fields.begin());
  }
  if (places_[kName] == fields.size())
    complain(line,
             0,
             "the first line of a dictionary needs headings: column, and what is known of type, "
             "min, max, values, description.");
}

void DictionaryLines::read_line(std::span<const std::string_view> fields, std::int64_t line) {
  ColumnFacts facts;
  facts.name = field(fields, kName);
  if (facts.name.empty()) return complain(line, places_[kName], "a column needs a name.");
  facts.comment = field(fields, kDescription);
  const std::string word = field(fields, kType);
  if (const auto type = type_called(word))
    facts.type = *type;
  else
    complain(line,
             places_[kType],
             fmt::format("unknown type '{}' of column '{}'. Known: integer, real, text, boolean, "
                         "date, time.",
                         word,
                         facts.name));
  for (const auto& [heading, bound] : {std::pair(kMin, &facts.min), std::pair(kMax, &facts.max)}) {
    const std::string text = field(fields, heading);
    if (text.empty()) continue;
    if (const double value = bound_in(text, facts.type); !std::isnan(value))
      *bound = value;
    else
      complain(
          line,
          places_[heading],
          fmt::format("the bound '{}' of column '{}' is no {}.",
                      text,
                      facts.name,
                      facts.type == DictionaryType::kDate || facts.type == DictionaryType::kTime
                          ? "date such as 2015-12-31"
                          : "number"));
  }
  read_codes(field(fields, kValues), facts);
  if (const std::string fault = contradiction_in(facts); !fault.empty())
    complain(line, places_[kName], fault);
  columns_.push_back(std::move(facts));
}

Expected<std::vector<ColumnFacts>> DictionaryLines::read(const std::string& text) {
  const std::string head = text.substr(0, text.find('\n'));
  const bool semicolons =
      std::count(head.begin(), head.end(), ';') > std::count(head.begin(), head.end(), ',');
  constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
  CsvSplitter splitter(semicolons ? ';' : ',', kAny, kAny);
  std::int64_t number = 0;
  bool has_headings = false;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (number == 1 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
    if (line.find_first_not_of(" \t,;") == line.npos) continue;
    if (!splitter.split(line)) {
      complain(number, splitter.fields().size(), "a quoted field must end on its line.");
    } else if (!has_headings) {
      read_headings(splitter.fields(), number);
      has_headings = true;
      if (!mistakes_.empty()) break;
    } else {
      read_line(splitter.fields(), number);
    }
  }
  if (!has_headings && mistakes_.empty()) complain(1, 0, "a dictionary needs a line of headings.");
  if (!mistakes_.empty()) return fail_with(mistakes_, name_);
  return std::move(columns_);
}

ColumnFacts facts_in(TomlReader& toml, const toml::table& table) {
  toml.check_keys(
      table,
      {"name", "type", "min", "max", "values", "description", "nullable", "key", "refers_to"},
      "a column of a dictionary");
  ColumnFacts facts;
  facts.name = toml.text(table, "name", "");
  if (facts.name.empty()) toml.complain(table.source(), "a column needs a name.");
  if (const auto type = type_called(toml.text(table, "type", "")))
    facts.type = *type;
  else
    toml.complain(table.get("type")->source(),
                  "the type must be one of integer, real, text, boolean, date, time.");
  for (const auto& [key, bound] : {std::pair("min", &facts.min), std::pair("max", &facts.max)}) {
    const toml::node* node = table.get(key);
    if (node == nullptr || TomlReader::is_question(*node)) continue;
    if (const auto text = node->value_exact<std::string>()) {
      if (const double value = bound_in(*text, facts.type); !std::isnan(value))
        *bound = value;
      else
        toml.complain(node->source(),
                      fmt::format("'{}' must be a number, or a date such as \"2015-12-31\".", key));
    } else {
      *bound = toml.number(*node, key);
    }
  }
  if (table.contains("values")) facts.values = toml.texts(*table.get("values"), "values");
  facts.comment = toml.text(table, "description", "");
  facts.nullable = toml.flag(table, "nullable", true);
  facts.key = toml.flag(table, "key", false);
  facts.refers_to = toml.text(table, "refers_to", "");
  if (const std::string fault = contradiction_in(facts); !fault.empty())
    toml.complain(table.source(), fault);
  return facts;
}

Expected<std::vector<ColumnFacts>> parse_toml_dictionary(const std::string& text,
                                                         const std::string& name) {
  TomlReader reader;
  std::vector<ColumnFacts> columns;
  if (const auto parsed = read_toml(text, name); !parsed) {
    reader.complain(parsed.error().where, parsed.error().description + ".");
  } else {
    reader.find_questions(*parsed);
    reader.check_keys(*parsed, {"column"}, "a dictionary");
    const toml::array* list = (*parsed)["column"].as_array();
    if (list == nullptr || !list->is_array_of_tables())
      reader.complain(parsed->source(), "a dictionary needs columns: one [[column]] each.");
    else
      for (const toml::node& node : *list) columns.push_back(facts_in(reader, *node.as_table()));
  }
  if (reader.failed()) return fail_with(reader.take_mistakes(), name);
  return columns;
}

}  // namespace

Expected<std::vector<ColumnFacts>> parse_dictionary(const std::string& text,
                                                    const std::string& name) {
  SOTTO_ASSIGN(std::vector<ColumnFacts> columns,
               name.ends_with(".toml") ? parse_toml_dictionary(text, name)
                                       : DictionaryLines(name).read(text));
  std::set<std::string> seen;
  for (const ColumnFacts& facts : columns) {
    if (!seen.insert(facts.name).second)
      return fail(ErrorKind::kBadData,
                  fmt::format("{}: column '{}' is there twice.", name, facts.name));
    std::vector<std::string> texts = facts.values;
    texts.push_back(facts.name);
    for (const std::string& each : texts)
      if (const std::string why = why_not_in_a_draft(each); !why.empty())
        return fail(ErrorKind::kBadData,
                    fmt::format("{}: a name or a value of column '{}' {}.", name, facts.name, why));
  }
  return columns;
}

Expected<std::vector<ColumnFacts>> read_dictionary(const std::string& path) {
  SOTTO_ASSIGN(const std::string text, read_text_file(path));
  return parse_dictionary(text, path);
}

}  // namespace sotto
