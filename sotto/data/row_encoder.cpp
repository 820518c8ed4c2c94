#include "sotto/data/row_encoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "sotto/data/io/null_field.hpp"
#include "sotto/data/io/numbers.hpp"

namespace sotto {
namespace {

/// The whole field as a number, NaN if it is none.
double number_in(std::string_view field) {
  double value = 0;
  const char* end = field.data() + field.size();
  return !field.empty() && parse_number(field.data(), end, value) == end ? value : NAN;
}

std::uint64_t size_bit(std::string_view text) {
  return std::uint64_t{1} << std::min<std::size_t>(text.size(), 63);
}

constexpr const char* kNotFinite = "is not a finite number";
constexpr const char* kNoDate = "is not a date of the form that the schema declares";

using NumberRange = Schema::Column::Range;

/// Those of one value that touch each other are one.
std::vector<NumberRange> apart(std::vector<NumberRange> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const NumberRange& a, const NumberRange& b) {
    return a.low < b.low;
  });
  std::vector<NumberRange> result;
  for (const NumberRange& range : ranges) {
    if (!result.empty() && result.back().high >= range.low)
      result.back().high = std::max(result.back().high, range.high);
    else
      result.push_back(range);
  }
  return result;
}

}  // namespace

/// The features of the row that is being written.
class RowEncoder::Row {
 public:
  Row(TableBuilder::Writer& writer, bool sparse) : writer_(writer), sparse_(sparse) {}

  void set(std::int32_t feature, double value) {
    if (value != 0 || !sparse_) writer_.add(feature, static_cast<float>(value));
  }
  /// Whether no column of the group was 1 yet.
  bool claim(int group) { return std::exchange(last_group_, group) != group; }

 private:
  TableBuilder::Writer& writer_;
  bool sparse_;
  int last_group_ = -1;  // a group's columns follow each other
};

RowEncoder::RowEncoder(const Schema& schema,
                       const std::vector<std::size_t>& fields,
                       bool multiclass,
                       Misfits misfits,
                       Demands demands)
    : label_(schema.label),
      signed_label_(schema.label == Schema::Label::kTwoClasses && !multiclass),
      misfits_(misfits),
      demands_(demands) {
  for (const std::string& text : schema.missing) {
    missing_.add(text, 0);
    missing_sizes_ |= size_bit(text);
  }
  std::int32_t feature = 0;
  for (std::size_t c = 0; c < schema.columns.size(); ++c) {
    const Schema::Column& facts = schema.columns[c];
    Column column;
    column.kind = facts.kind;
    column.group = facts.group;
    column.field = fields[c];
    column.min = facts.min;
    column.max = facts.max;
    column.filler = facts.filler;
    column.name = facts.name;
    column.feature = feature;
    column.further = further_of(facts);
    using Kind = Schema::Kind;
    for (std::size_t v = 0; v < facts.values.size(); ++v)
      for (const std::string& spelling : facts.values[v])
        column.lookup.add(facts.ignore_case ? small_letters(spelling) : spelling,
                          static_cast<std::int32_t>(v));
    feature += static_cast<std::int32_t>(facts.features());
    if (facts.missing_indicator) column.indicator = feature - 1;
    if (facts.other) column.other = feature - (facts.missing_indicator ? 2 : 1);
    if (column.field == kNoField) continue;
    if (facts.kind == Kind::kUnit) unit_field_ = column.field;
    if (facts.kind == Kind::kLabel) label_column_ = columns_.size();
    if (facts.kind != Kind::kIgnore) columns_.push_back(std::move(column));
  }
}

std::shared_ptr<const RowEncoder::Further> RowEncoder::further_of(const Schema::Column& facts) {
  const bool is_log = facts.scale == Schema::Column::Scale::kLog1p;
  if (!is_log && facts.date.empty() && facts.edges.empty() && !facts.ignore_case &&
      facts.prefix == 0 && facts.ranges.empty())
    return nullptr;
  Further further;
  if (auto form = DateForm::parse(facts.date)) further.date = *std::move(form);
  further.edges = facts.edges;
  further.is_log = is_log;
  if (is_log) {
    further.log_min = std::log1p(facts.min);
    further.log_range = std::log1p(facts.max) - further.log_min;
  }
  further.ignore_case = facts.ignore_case;
  for (const auto& spellings : facts.values)
    for (const std::string& spelling : spellings)
      further.longest = std::max(further.longest, spelling.size());
  further.prefix = facts.prefix;
  further.ranges = apart(facts.ranges);
  return std::make_shared<const Further>(std::move(further));
}

/// By spelling; kNone: of none.
std::int32_t RowEncoder::find(const Column& column, std::string_view field) {
  if (is_null_field(field)) return Spellings::kNone;
  const Further* further = column.further.get();
  if (further == nullptr) return column.lookup.find(field);
  if (further->prefix > 0) field = first_characters(field, further->prefix);
  if (!further->ignore_case) return column.lookup.find(field);
  return field.size() > further->longest ? Spellings::kNone
                                         : column.lookup.find(small_letters(field));
}

std::int32_t RowEncoder::value_by_range(const Column& column, std::string_view field) {
  const Further* further = column.further.get();
  if (further == nullptr || further->ranges.empty()) return Spellings::kNone;
  if (further->prefix > 0) field = first_characters(field, further->prefix);
  const double number = number_in(field);
  const auto& ranges = further->ranges;
  const auto after = std::upper_bound(
      ranges.begin(), ranges.end(), number, [](double value, const NumberRange& range) {
        return value < range.low;
      });
  if (std::isnan(number) || after == ranges.begin() || std::prev(after)->high < number)
    return Spellings::kNone;
  return static_cast<std::int32_t>(std::prev(after)->value);
}

bool RowEncoder::is_missing(std::string_view field) const {
  return is_null_field(field) ||
         ((missing_sizes_ & size_bit(field)) != 0 && missing_.find(field) != Spellings::kNone);
}

bool RowEncoder::lacks_label(const Column& column, std::span<const std::string_view> fields) const {
  const std::string_view field = fields[column.field];
  return (field.empty() || is_missing(field)) && find(column, field) == Spellings::kNone;
}

std::optional<std::string_view> RowEncoder::person_in(
    std::span<const std::string_view> fields) const {
  if (!unit_field_ || *unit_field_ >= fields.size()) return std::nullopt;
  if (fields[*unit_field_].empty() || is_missing(fields[*unit_field_])) return std::nullopt;
  return fields[*unit_field_];
}

const char* RowEncoder::encode_numeric(const Column& column,
                                       std::string_view field,
                                       Row& row) const {
  const double min = column.min;
  const double max = column.max;
  const Further* further = column.further.get();
  const bool is_date = further != nullptr && further->date.has_value();
  bool missing = is_missing(field);
  double value = missing ? 0 : is_date ? further->date->days(field) : number_in(field);
  if (!std::isfinite(value)) {
    if (misfits_ == Misfits::kRefuse) return is_date ? kNoDate : kNotFinite;
    missing = true;
  }
  if (missing) {
    if (!column.filler && column.indicator < 0)
      return "is missing, and the schema says neither filler nor missing_indicator for it";
    value = column.filler.value_or(min);
  }
  if (further != nullptr && !further->edges.empty()) {
    const auto& edges = further->edges;
    const auto bin = std::upper_bound(edges.begin(), edges.end(), value) - edges.begin();
    if (!missing || column.filler) row.set(column.feature + static_cast<std::int32_t>(bin), 1);
  } else if (further != nullptr && further->is_log) {
    const double log = std::log1p(std::clamp(value, min, max));
    row.set(column.feature, std::clamp((log - further->log_min) / further->log_range, 0.0, 1.0));
  } else {
    row.set(column.feature, (std::clamp(value, min, max) - min) / (max - min));
  }
  if (missing && column.indicator >= 0) row.set(column.indicator, 1);
  return nullptr;
}

void RowEncoder::encode_categorical(const Column& column, std::string_view field, Row& row) const {
  std::int32_t value = find(column, field);
  const bool missing = value == Spellings::kNone && is_missing(field);
  if (value == Spellings::kNone && !missing) value = value_by_range(column, field);
  if (value != Spellings::kNone) {
    row.set(column.feature + value, 1);
  } else if (column.indicator >= 0 && missing) {
    row.set(column.indicator, 1);
  } else if (column.other >= 0) {
    row.set(column.other, 1);
  }
}

const char* RowEncoder::encode_one_hot(const Column& column,
                                       std::string_view field,
                                       Row& row) const {
  const double value = number_in(field);
  if (value == 0) return nullptr;
  if (value != 1) return "must be 0 or 1: it is declared one-hot";
  if (!row.claim(column.group)) return "is a second 1 in its one-hot group";
  row.set(column.feature, 1);
  return nullptr;
}

const char* RowEncoder::encode_label(const Column& column,
                                     std::string_view field,
                                     float& label) const {
  if (label_ == Schema::Label::kNumeric) {
    const double value = number_in(field);
    if (!std::isfinite(value)) return kNotFinite;
    label = static_cast<float>(std::clamp(value, column.min, column.max));
    return nullptr;
  }
  const std::int32_t value = find(column, field);
  if (value == Spellings::kNone)
    return demands_.label
               ? "is not one of the label's declared values"
               : "is not one of the label's declared values; leave it empty if it is not "
                 "known";
  const auto position = static_cast<float>(value);
  label = signed_label_ ? 2 * position - 1 : position;
  return nullptr;
}

RowEncoder::Fault RowEncoder::encode(std::span<const std::string_view> fields,
                                     bool sparse,
                                     TableBuilder::Writer& writer) const {
  Row row(writer, sparse);
  float label = null_label();
  const std::optional<std::string_view> person = person_in(fields);
  for (const Column& column : columns_) {
    const std::string_view field = fields[column.field];
    const char* fault = nullptr;
    switch (column.kind) {
      case Schema::Kind::kNumeric:
        fault = encode_numeric(column, field, row);
        break;
      case Schema::Kind::kCategorical:
        encode_categorical(column, field, row);
        break;
      case Schema::Kind::kOneHot:
        fault = encode_one_hot(column, field, row);
        break;
      case Schema::Kind::kLabel:
        if (demands_.label || !lacks_label(column, fields))
          fault = encode_label(column, field, label);
        break;
      case Schema::Kind::kUnit:
        if (!person && demands_.person) fault = "is missing, but every row must name its person";
        break;
      case Schema::Kind::kIgnore:
        break;
    }
    if (fault != nullptr) {
      writer.end_null_row(null_label(), person);
      return {column.field, fmt::format("the value of '{}' {}", column.name, fault)};
    }
  }
  writer.end_row(label, person.value_or(std::string_view()));
  return {};
}

}  // namespace sotto
