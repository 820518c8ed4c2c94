#include "sotto/data/schema.hpp"

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

std::vector<std::string> Schema::class_names() const {
  std::vector<std::string> names;
  for (const Column& column : columns)
    if (column.kind == Kind::kLabel)
      for (const auto& spellings : column.values) names.push_back(spellings.front());
  return names;
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
