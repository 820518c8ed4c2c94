#include "sotto/data/encoding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "sotto/data/io/numbers.hpp"

namespace sotto {
namespace {

using Column = Encoding::Column;

/// A to Z alone.
std::string in_small_letters(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

void describe_texts(const Schema::Column& facts, Column& column) {
  column.ignore_case = facts.ignore_case;
  column.prefix = facts.prefix;
  std::set<std::string> seen;
  for (std::size_t v = 0; v < facts.values.size(); ++v)
    for (const std::string& spelling : facts.values[v]) {
      std::string text = facts.ignore_case ? in_small_letters(spelling) : spelling;
      if (seen.insert(text).second)
        column.spellings.push_back({std::move(text), column.first + static_cast<std::int64_t>(v)});
    }
  for (const auto& range : facts.ranges)
    column.ranges.push_back(
        {range.low, range.high, column.first + static_cast<std::int64_t>(range.value)});
}

void describe_numbers(const Schema::Column& facts, Column& column) {
  column.min = facts.min;
  column.max = facts.max;
  column.log1p = facts.scale == Schema::Column::Scale::kLog1p;
  column.edges = facts.edges;
  column.date = facts.date;
  column.refuses_missing = !facts.filler && !facts.missing_indicator;
  if (!facts.filler) return;
  if (column.form == Column::Form::kNumber) {
    column.when_missing = column.scaled(*facts.filler);
  } else {
    const double filler = std::clamp(*facts.filler, facts.min, facts.max);
    const auto bin = std::upper_bound(facts.edges.begin(), facts.edges.end(), filler);
    column.bin_of_missing = column.first + (bin - facts.edges.begin());
  }
}

std::optional<Column> described(const Schema::Column& facts, std::int64_t first) {
  Column column;
  column.name = facts.name;
  column.first = first;
  std::int64_t next = first + 1;
  switch (facts.kind) {
    case Schema::Kind::kNumeric:
      column.form = facts.edges.empty() ? Column::Form::kNumber : Column::Form::kBins;
      next = first + std::ssize(facts.edges) + 1;
      describe_numbers(facts, column);
      break;
    case Schema::Kind::kOneHot:
      column.form = Column::Form::kFlag;
      column.group = facts.group;
      column.refuses_missing = true;
      break;
    case Schema::Kind::kCategorical:
      column.form = Column::Form::kText;
      next = first + std::ssize(facts.values);
      describe_texts(facts, column);
      break;
    default:
      return std::nullopt;
  }
  if (facts.other) column.other = next++;
  if (facts.missing_indicator) column.missing = next++;
  column.features = next - first;
  return column;
}

}  // namespace

std::int64_t Column::absent_text() const {
  for (const Spelling& each : spellings)
    if (each.text.empty()) return each.feature;
  return missing_text();
}

double Column::scaled(double value) const {
  if (!std::isfinite(value)) return std::numeric_limits<double>::quiet_NaN();
  value = std::clamp(value, min, max);
  if (!log1p) return (value - min) / (max - min);
  const double least = std::log1p(min);
  return std::clamp((std::log1p(value) - least) / (std::log1p(max) - least), 0.0, 1.0);
}

std::vector<double> Encoding::missing_numbers() const {
  std::vector<double> numbers;
  for (const std::string& text : missing) {
    double value = 0;
    const char* end = text.data() + text.size();
    if (!text.empty() && parse_number(text.data(), end, value) == end && std::isfinite(value) &&
        std::find(numbers.begin(), numbers.end(), value) == numbers.end())
      numbers.push_back(value);
  }
  return numbers;
}

Encoding encoding_of(const Schema& schema) {
  Encoding encoding;
  encoding.missing = schema.missing;
  encoding.groups = schema.groups();
  for (const Schema::Column& facts : schema.columns)
    if (auto column = described(facts, encoding.features)) {
      encoding.features += column->features;
      encoding.columns.push_back(*std::move(column));
    }
  return encoding;
}

}  // namespace sotto
