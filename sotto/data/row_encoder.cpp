#include "sotto/data/row_encoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sotto/data/io/numbers.hpp"

namespace sotto {
namespace {

/// The whole field as a number, NaN if it is none.
double number_in(std::string_view field) {
  double value = 0;
  const char* end = field.data() + field.size();
  return !field.empty() && parse_number(field.data(), end, value) == end ? value : NAN;
}

template <class T>
std::uint64_t bytes_at(const char* place) {
  T bytes;
  std::memcpy(&bytes, place, sizeof bytes);
  return bytes;
}

/// The first eight bytes of a text. Of a shorter one its first and its last bytes, which overlap:
/// another number for every text of the same length, without a loop.
std::uint64_t head_of(std::string_view text) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  if (text.size() >= 8) return bytes_at<std::uint64_t>(begin);
  if (text.size() >= 4)
    return bytes_at<std::uint32_t>(begin) | bytes_at<std::uint32_t>(end - 4) << 32U;
  if (text.size() >= 2)
    return bytes_at<std::uint16_t>(begin) | bytes_at<std::uint16_t>(end - 2) << 16U;
  return text.empty() ? 0 : static_cast<unsigned char>(*begin);
}

constexpr const char* kNotFinite = "is not a finite number";

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

void RowEncoder::Spellings::add(const std::string& spelling, std::int32_t value) {
  all_[spelling] = value;
  if (all_.size() > kFew)
    few_.clear();
  else
    few_.push_back({head_of(spelling), spelling, value});
}

std::int32_t RowEncoder::Spellings::find(std::string_view text) const {
  const std::uint64_t head = head_of(text);
  for (const Spelling& each : few_)
    if (each.head == head && each.text.size() == text.size() &&
        (text.size() <= sizeof head || each.text == text))
      return each.value;
  if (all_.size() <= kFew) return kNone;
  const auto found = all_.find(text);
  return found == all_.end() ? kNone : found->second;
}

RowEncoder::RowEncoder(const Schema& schema,
                       const std::vector<std::size_t>& fields,
                       bool multiclass,
                       Misfits misfits,
                       Demands demands)
    : missing_(schema.missing),
      label_(schema.label),
      signed_label_(schema.label == Schema::Label::kTwoClasses && !multiclass),
      misfits_(misfits),
      demands_(demands) {
  std::int32_t feature = 0;
  for (std::size_t c = 0; c < schema.columns.size(); ++c) {
    Column column;
    column.facts = schema.columns[c];
    column.field = fields[c];
    column.feature = feature;
    using Kind = Schema::Kind;
    const Kind kind = column.facts.kind;
    for (std::size_t v = 0; v < column.facts.values.size(); ++v)
      for (const std::string& spelling : column.facts.values[v])
        column.lookup.add(spelling, static_cast<std::int32_t>(v));
    if (kind == Kind::kNumeric || kind == Kind::kOneHot) ++feature;
    if (kind == Kind::kCategorical)
      feature += static_cast<std::int32_t>(column.facts.values.size());
    if (column.facts.other) column.other = feature++;
    if (column.facts.missing_indicator) column.indicator = feature++;
    if (column.field == kNoField) continue;
    if (kind == Kind::kUnit) unit_field_ = column.field;
    if (kind == Kind::kLabel) label_column_ = columns_.size();
    if (kind != Kind::kIgnore) columns_.push_back(std::move(column));
  }
}

bool RowEncoder::is_missing(std::string_view field) const {
  return std::find(missing_.begin(), missing_.end(), field) != missing_.end();
}

bool RowEncoder::lacks_label(const Column& column, std::span<const std::string_view> fields) const {
  const std::string_view field = fields[column.field];
  return (field.empty() || is_missing(field)) && column.lookup.find(field) == Spellings::kNone;
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
  const auto& [min, max] = std::pair(column.facts.min, column.facts.max);
  bool missing = is_missing(field);
  double value = missing ? 0 : number_in(field);
  if (!std::isfinite(value)) {
    if (misfits_ == Misfits::kRefuse) return kNotFinite;
    missing = true;
  }
  if (missing) {
    if (!column.facts.filler && column.indicator < 0)
      return "is missing, and the schema says neither filler nor missing_indicator for it";
    value = column.facts.filler.value_or(min);
  }
  row.set(column.feature, (std::clamp(value, min, max) - min) / (max - min));
  if (missing && column.indicator >= 0) row.set(column.indicator, 1);
  return nullptr;
}

void RowEncoder::encode_categorical(const Column& column, std::string_view field, Row& row) const {
  if (const std::int32_t value = column.lookup.find(field); value != Spellings::kNone) {
    row.set(column.feature + value, 1);
  } else if (column.indicator >= 0 && is_missing(field)) {
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
  if (!row.claim(column.facts.group)) return "is a second 1 in its one-hot group";
  row.set(column.feature, 1);
  return nullptr;
}

const char* RowEncoder::encode_label(const Column& column,
                                     std::string_view field,
                                     float& label) const {
  if (label_ == Schema::Label::kNumeric) {
    const double value = number_in(field);
    if (!std::isfinite(value)) return kNotFinite;
    label = static_cast<float>(std::clamp(value, column.facts.min, column.facts.max));
    return nullptr;
  }
  const std::int32_t value = column.lookup.find(field);
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
    switch (column.facts.kind) {
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
      return {column.field, fmt::format("the value of '{}' {}", column.facts.name, fault)};
    }
  }
  writer.end_row(label, person.value_or(std::string_view()));
  return {};
}

}  // namespace sotto
