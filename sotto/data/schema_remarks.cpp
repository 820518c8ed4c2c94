#include "sotto/data/schema_remarks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "sotto/core/nearest.hpp"
#include "sotto/data/date_form.hpp"
#include "sotto/data/io/numbers.hpp"
#include "sotto/data/public_words.hpp"
#include "sotto/data/spellings.hpp"

namespace sotto {
namespace {

using SchemaColumn = Schema::Column;
using ColumnKind = Schema::Kind;

/// From the least to the greatest value by so many times, counted from -1 as log1p does: then most
/// values are likely to lie in a small part of what is between them. Of counts less is enough.
constexpr double kWide = 1000;
constexpr double kWideForCounts = 30;

bool is_feature(const SchemaColumn& column) {
  return column.kind == ColumnKind::kNumeric || column.kind == ColumnKind::kCategorical ||
         column.kind == ColumnKind::kOneHot;
}

std::string listed(const std::vector<std::string>& words) {
  constexpr std::size_t kMost = 8;
  std::string text;
  for (std::size_t k = 0; k < std::min(words.size(), kMost); ++k)
    text += (k == 0 ? "'" : ", '") + words[k] + "'";
  return words.size() > kMost ? text + fmt::format(" and {} more", words.size() - kMost) : text;
}

class Remarks {
 public:
  Remarks(const SchemaReading& reading, const RemarkSources& sources)
      : reading_(reading), sources_(sources) {}

  std::vector<SchemaRemark> all();

 private:
  const std::vector<SchemaColumn>& columns() const { return reading_.schema.columns; }
  template <class... Arguments>
  void remark(std::size_t c, fmt::format_string<Arguments...> form, Arguments&&... arguments) {
    add({c < reading_.places.size() ? reading_.places[c] : SchemaReading::Place{1, 1},
         fmt::format(form, std::forward<Arguments>(arguments)...)});
  }
  void add(SchemaRemark one) { remarks_.push_back(std::move(one)); }

  void on_scales(std::size_t begin, std::size_t end);
  void on_names(std::size_t c);
  void on_values(std::size_t c);
  void on_label(std::size_t c);
  void on_persons();
  void on_twins();
  void on_header();
  void on_dictionary();
  void on_described(std::size_t c, const ColumnFacts& facts);
  void on_described_bounds(std::size_t c, const ColumnFacts& facts);
  void on_described_values(std::size_t c, const ColumnFacts& facts);

  const SchemaReading& reading_;
  const RemarkSources& sources_;
  std::vector<SchemaRemark> remarks_;
};

/// Whether they were declared together.
bool is_alike(const SchemaReading::Place& a, const SchemaReading::Place& b) {
  return a.line == b.line && a.column == b.column;
}

/// Whether most values of a column are likely to be small features.
bool is_wide(const SchemaColumn& column) {
  if (column.kind != ColumnKind::kNumeric || !column.edges.empty() || !column.date.empty() ||
      column.scale != SchemaColumn::Scale::kLinear || column.min < 0)
    return false;
  const bool is_count = likely_kind(column.name) == LikelyKind::kCount;
  return (1 + column.max) / (1 + column.min) >= (is_count ? kWideForCounts : kWide);
}

/// Of columns declared alike at once.
void Remarks::on_scales(std::size_t begin, std::size_t end) {
  std::vector<std::string> names;
  for (std::size_t c = begin; c < end; ++c)
    if (is_wide(columns()[c])) names.push_back(columns()[c].name);
  if (names.empty()) return;
  const SchemaColumn& column = columns()[begin];
  remark(begin,
         "column{} {}: between {} and {} one more changes the feature by {:.2g} only, and noise "
         "hides small features. If most values are near {}, say scale = \"log1p\", give bins, or "
         "lower max: values beyond it count as max.",
         names.size() == 1 ? "" : "s",
         listed(names),
         column.min,
         column.max,
         1 / (column.max - column.min),
         column.min);
}

void Remarks::on_names(std::size_t c) {
  const SchemaColumn& column = columns()[c];
  const LikelyKind likely = likely_kind(column.name);
  if (column.kind == ColumnKind::kNumeric &&
      (likely == LikelyKind::kId || likely == LikelyKind::kPersonId))
    remark(
        c,
        "column '{}' is numeric, but its name is that of an id or a code, of which a greater one "
        "is not more. Say kind = \"ignore\", or \"categorical\" with its public list.",
        column.name);
  else if (is_feature(column) &&
           (likely == LikelyKind::kIdentity || likely == LikelyKind::kPersonId))
    remark(c,
           "column '{}' is a feature, but its name is that of something that tells who somebody "
           "is. Say kind = \"ignore\".",
           column.name);
}

void Remarks::on_values(std::size_t c) {
  const SchemaColumn& column = columns()[c];
  if (column.kind != ColumnKind::kCategorical || column.values.size() != 1 || column.other) return;
  remark(c,
         "column '{}' has one value, so that every other field counts the same, a misspelled one "
         "too. If that is not meant, list the other values, or say other = true.",
         column.name);
}

/// A feature that is named after the label may have been written when the label was known.
void Remarks::on_label(std::size_t c) {
  const SchemaColumn& column = columns()[c];
  const SchemaColumn* label = reading_.schema.label_column();
  if (!is_feature(column) || label == nullptr) return;
  const auto words = words_of(label->name);
  const auto own = words_of(column.name);
  constexpr std::size_t kTelling = 4;
  const bool tells = std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return word.size() >= kTelling && std::find(own.begin(), own.end(), word) != own.end();
  });
  if (tells)
    remark(c,
           "column '{}' is a feature, but is named like the label '{}'. If it is known only when "
           "the label is, the model learns nothing else: say kind = \"ignore\".",
           column.name,
           label->name);
}

void Remarks::on_persons() {
  if (reading_.schema.has_units) return;
  for (std::size_t c = 0; c < columns().size(); ++c) {
    if (likely_kind(columns()[c].name) != LikelyKind::kPersonId) continue;
    remark(c,
           "no column is of kind \"unit\", so that the guarantee is for each row by itself. If "
           "'{}' names a person who may have several rows, say kind = \"unit\" for it.",
           columns()[c].name);
    return;
  }
}

void Remarks::on_twins() {
  std::map<std::vector<std::string>, std::size_t> seen;
  for (std::size_t c = 0; c < columns().size(); ++c) {
    if (!is_feature(columns()[c])) continue;
    const auto [place, is_new] = seen.emplace(words_of(columns()[c].name), c);
    const bool is_one_group = columns()[c].kind == ColumnKind::kOneHot &&
                              columns()[place->second].kind == ColumnKind::kOneHot &&
                              columns()[c].group == columns()[place->second].group;
    if (!is_new && !is_one_group)  // of which at most one counts
      remark(c,
             "columns '{}' and '{}' differ only in case or in marks between words. If they hold "
             "the same, ignore one of them: both cost norm.",
             columns()[place->second].name,
             columns()[c].name);
  }
}

void Remarks::on_header() {
  if (sources_.header == nullptr) return;
  const Schema& schema = reading_.schema;
  if (schema.skip_lines > 0 || !schema.comment.empty())
    return add({{1, 1}, "the header is not compared, because the schema skips lines before it."});
  const auto& names = sources_.header->names;
  if (!schema.header)
    add({{1, 1},
         schema.has_file_table
             ? "the file has a header, but [file] does not say header = true."
             : "the file has a header, but the schema has no [file] table, which means that the "
               "file has no header. Say [file] and header = true."});
  if (schema.separator != sources_.header->separator && names.size() > 1)
    add({{1, 1},
         fmt::format(
             "the header has fields between '{}', but the schema's separator is '{}'.",
             sources_.header->separator == '\t' ? std::string("\\t")
                                                : std::string(1, sources_.header->separator),
             schema.separator == '\t' ? std::string("\\t") : std::string(1, schema.separator))});
  std::vector<std::string> declared;
  for (const SchemaColumn& column : columns()) declared.push_back(column.name);
  const bool knows_one = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::find(declared.begin(), declared.end(), name) != declared.end();
  });
  if (!knows_one)  // it may be somebody's row after all, so that no text of it is told
    return add({{1, 1}, "the first line of the file has none of the schema's columns."});
  for (std::size_t c = 0; c < declared.size(); ++c)
    if (std::find(names.begin(), names.end(), declared[c]) == names.end())
      remark(
          c, "column '{}' is not in the header.{}", declared[c], did_you_mean(declared[c], names));
  for (const std::string& name : names)
    if (std::find(declared.begin(), declared.end(), name) == declared.end())
      add({{1, 1},
           fmt::format("column '{}' of the header is not declared. Training needs all columns: say "
                       "kind = \"ignore\" for what is not used.",
                       name)});
}

/// By the rules of the encoder.
std::optional<std::size_t> value_with(const SchemaColumn& column, const std::string& field) {
  std::string text = field;
  if (column.prefix > 0) text = first_characters(text, column.prefix);
  for (std::size_t v = 0; v < column.values.size(); ++v)
    for (const std::string& spelling : column.values[v])
      if (spelling == text ||
          (column.ignore_case && small_letters(spelling) == small_letters(text)))
        return v;
  double number = 0;
  const char* end = text.data() + text.size();
  if (text.empty() || parse_number(text.data(), end, number) != end) return std::nullopt;
  for (const auto& range : column.ranges)
    if (number >= range.low && number <= range.high) return range.value;
  return std::nullopt;
}

void Remarks::on_described_values(std::size_t c, const ColumnFacts& facts) {
  const SchemaColumn& column = columns()[c];
  const bool is_label = column.kind == ColumnKind::kLabel;
  if (facts.values.empty() || column.values.empty()) return;
  std::vector<std::string> unlisted;
  for (const std::string& value : facts.values)
    if (!value_with(column, value)) unlisted.push_back(value);
  std::vector<std::string> unknown;
  for (std::size_t v = 0; v < column.values.size(); ++v) {
    const bool is_known =
        std::any_of(facts.values.begin(), facts.values.end(), [&](const std::string& value) {
          return value_with(column, value) == v;
        });
    if (is_known) continue;  // by one of its spellings
    for (const std::string& spelling : column.values[v]) {
      const auto meant = [&](auto means) {
        const auto found = std::find_if(
            unlisted.begin(), unlisted.end(), [&](const auto& value) { return means(value); });
        return found == unlisted.end() ? std::optional<std::string>() : *found;
      };
      const auto other_case = meant([&](const std::string& value) {
        return small_letters(value) == small_letters(spelling);
      });
      const auto synonym =
          meant([&](const std::string& value) { return are_synonyms(value, spelling); });
      if (other_case)
        remark(c,
               "column '{}': the dictionary spells '{}' as '{}'. Spell it so, or say case = "
               "\"ignore\": fields that are no value are not refused.",
               column.name,
               spelling,
               *other_case);
      else if (synonym)
        remark(c,
               "column '{}': the dictionary has no '{}', but '{}', which may be the same. List it "
               "as a spelling: [\"{}\", \"{}\"].",
               column.name,
               spelling,
               *synonym,
               *synonym,
               spelling);
      else
        unknown.push_back(spelling);
    }
  }
  if (!unknown.empty())
    remark(c, "column '{}': the dictionary does not have {}.", column.name, listed(unknown));
  if (!unlisted.empty() && !column.other)
    remark(c,
           "column '{}': the schema does not list {} of the dictionary, which {}.",
           column.name,
           listed(unlisted),
           is_label
               ? "are then refused as labels"
               : "then become zeros, as every misspelled field; other = true tells them apart");
}

void Remarks::on_described_bounds(std::size_t c, const ColumnFacts& facts) {
  const SchemaColumn& column = columns()[c];
  const bool has_days =
      facts.type == ColumnFacts::Type::kDate || facts.type == ColumnFacts::Type::kTime;
  if (column.kind != ColumnKind::kNumeric || !column.edges.empty()) return;
  if (has_days && column.date.empty())
    return remark(c,
                  "column '{}' is a date in the dictionary: say date = \"%Y-%m-%d\", or the form "
                  "that the file has.",
                  column.name);
  if (has_days != !column.date.empty()) return;
  const auto form = DateForm::parse(column.date);
  const auto shown = [&](double value) {
    return form ? form->text(value) : fmt::format("{}", value);
  };
  if ((facts.min && *facts.min < column.min) || (facts.max && *facts.max > column.max))
    remark(c,
           "column '{}': the dictionary's bounds, {} and {}, are wider than {} and {}: values "
           "beyond these count as the bound.",
           column.name,
           facts.min ? shown(*facts.min) : "none",
           facts.max ? shown(*facts.max) : "none",
           shown(column.min),
           shown(column.max));
  else if (facts.min && facts.max && *facts.max > *facts.min &&
           (*facts.min > column.min || *facts.max < column.max))
    remark(c,
           "column '{}': the dictionary's bounds, {} and {}, are tighter than {} and {}, and make "
           "larger features.",
           column.name,
           shown(*facts.min),
           shown(*facts.max),
           shown(column.min),
           shown(column.max));
}

void Remarks::on_described(std::size_t c, const ColumnFacts& facts) {
  on_described_bounds(c, facts);
  on_described_values(c, facts);
  if (columns()[c].kind == ColumnKind::kNumeric && !facts.values.empty() && !facts.min &&
      !facts.max)
    remark(c,
           "column '{}' is numeric, but the dictionary lists its values: say kind = "
           "\"categorical\".",
           columns()[c].name);
}

void Remarks::on_dictionary() {
  if (sources_.dictionary == nullptr) return;
  std::vector<std::string> names;
  for (const ColumnFacts& facts : *sources_.dictionary) names.push_back(facts.name);
  for (std::size_t c = 0; c < columns().size(); ++c) {
    const auto place = std::find(names.begin(), names.end(), columns()[c].name);
    if (place != names.end())
      on_described(c, (*sources_.dictionary)[static_cast<std::size_t>(place - names.begin())]);
    else if (is_feature(columns()[c]) || columns()[c].kind == ColumnKind::kLabel)
      remark(c,
             "column '{}' is not in the dictionary.{}",
             columns()[c].name,
             did_you_mean(columns()[c].name, names));
  }
}

std::vector<SchemaRemark> Remarks::all() {
  for (std::size_t begin = 0, end = 0; begin < columns().size(); begin = end) {
    while (end < columns().size() && is_alike(reading_.places[begin], reading_.places[end])) ++end;
    on_scales(begin, end);
    on_values(begin);
  }
  for (std::size_t c = 0; c < columns().size(); ++c) {
    on_names(c);
    on_label(c);
  }
  on_persons();
  on_twins();
  on_header();
  on_dictionary();
  std::stable_sort(remarks_.begin(), remarks_.end(), [](const auto& a, const auto& b) {
    return std::tie(a.place.line, a.place.column) < std::tie(b.place.line, b.place.column);
  });
  return std::move(remarks_);
}

}  // namespace

std::vector<SchemaRemark> remarks_on(const SchemaReading& reading, const RemarkSources& sources) {
  return Remarks(reading, sources).all();
}

}  // namespace sotto
