#include "sotto/data/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sotto {

std::string Schema::unit() const {
  for (const auto& column : columns)
    if (column.kind == Kind::kUnit) return column.name;
  return "row";
}

std::vector<std::string> Schema::feature_names() const {
  std::vector<std::string> names;
  for (const Column& column : columns) {
    if (column.kind == Kind::kNumeric || column.kind == Kind::kOneHot) names.push_back(column.name);
    if (column.kind == Kind::kCategorical)
      for (const auto& spellings : column.values)
        names.push_back(column.name + "=" + spellings.front());
    if (column.other) names.push_back(column.name + "=other");
    if (column.missing_indicator) names.push_back(column.name + "=missing");
  }
  return names;
}

const Schema::Column* Schema::label_column() const {
  const auto found = std::find_if(columns.begin(), columns.end(), [](const Column& column) {
    return column.kind == Kind::kLabel;
  });
  return found == columns.end() ? nullptr : &*found;
}

std::vector<std::string> Schema::Column::names() const {
  std::vector<std::string> names;
  for (const auto& spellings : values)
    names.push_back(fmt::format("{}", fmt::join(spellings, " or ")));
  return names;
}

std::vector<std::string> Schema::class_names() const {
  const Column* column = label_column();
  return column ? column->names() : std::vector<std::string>();
}

bool Schema::is_named(const std::vector<std::string>& classes) const {
  if (classes == class_names()) return true;
  const Column* column = label_column();
  return column && std::equal(classes.begin(),
                              classes.end(),
                              column->values.begin(),
                              column->values.end(),
                              [](const std::string& name, const auto& spellings) {
                                return name == spellings.front();
                              });
}

std::optional<std::size_t> Schema::class_called(std::string_view name) const {
  const Column* column = label_column();
  if (!column) return std::nullopt;
  const auto names = column->names();
  for (std::size_t c = 0; c < names.size(); ++c) {
    const auto& spellings = column->values[c];
    if (names[c] == name || std::find(spellings.begin(), spellings.end(), name) != spellings.end())
      return c;
  }
  return std::nullopt;
}

double Schema::row_norm_bound(bool bias) const {
  double sum_squares = groups() + (bias ? 1 : 0);
  for (const Column& column : columns) {
    if (column.kind == Kind::kCategorical) sum_squares += 1;
    if (column.kind != Kind::kNumeric) continue;
    // Present: at most 1. Missing: the indicator, and the scaled filler where there is one, in the
    // precision in which it is stored.
    const auto filler = static_cast<float>(
        column.filler ? (*column.filler - column.min) / (column.max - column.min) : 0);
    sum_squares += column.missing_indicator
                       ? 1 + static_cast<double>(filler) * static_cast<double>(filler)
                       : 1;
  }
  return std::sqrt(sum_squares);
}

std::int64_t Schema::max_entries() const {
  std::int64_t entries = groups();
  for (const Column& column : columns) {
    if (column.kind == Kind::kCategorical) entries += 1;
    if (column.kind == Kind::kNumeric) entries += column.missing_indicator && column.filler ? 2 : 1;
  }
  return entries;
}

int Schema::groups() const {
  int count = 0;
  for (const Column& column : columns) count = std::max(count, column.group + 1);
  return count;
}

}  // namespace sotto
