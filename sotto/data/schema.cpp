#include "sotto/data/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sotto/data/date_form.hpp"
#include "sotto/data/spellings.hpp"

namespace sotto {
namespace {

/// `<30`, `30..50`, `>=50`.
std::vector<std::string> names_of_bins(const std::vector<double>& edges, const std::string& date) {
  const auto form = DateForm::parse(date);
  std::vector<std::string> texts;
  for (const double edge : edges)
    texts.push_back(form ? form->text(edge) : fmt::format("{}", edge));
  std::vector<std::string> names = {"<" + texts.front()};
  for (std::size_t k = 1; k < texts.size(); ++k) names.push_back(texts[k - 1] + ".." + texts[k]);
  names.push_back(">=" + texts.back());
  return names;
}

}  // namespace

std::string Schema::unit() const {
  for (const auto& column : columns)
    if (column.kind == Kind::kUnit) return column.name;
  return "row";
}

std::vector<std::string> Schema::feature_names() const {
  std::vector<std::string> names;
  for (const Column& column : columns)
    for (std::string& name : column.feature_names()) names.push_back(std::move(name));
  return names;
}

std::vector<std::string> Schema::Column::feature_names() const {
  std::vector<std::string> features;
  if (kind == Kind::kOneHot || (kind == Kind::kNumeric && edges.empty())) features.push_back(name);
  if (kind == Kind::kNumeric && !edges.empty())
    for (const std::string& bin : names_of_bins(edges, date)) features.push_back(name + "=" + bin);
  if (kind == Kind::kCategorical)
    for (const auto& spellings : values) features.push_back(name + "=" + spellings.front());
  if (other) features.push_back(name + "=other");
  if (missing_indicator) features.push_back(name + "=missing");
  return features;
}

std::size_t Schema::Column::features() const {
  const std::size_t own = kind == Kind::kNumeric       ? edges.size() + 1
                          : kind == Kind::kOneHot      ? 1
                          : kind == Kind::kCategorical ? values.size()
                                                       : 0;
  return own + (other ? 1 : 0) + (missing_indicator ? 1 : 0);
}

double Schema::Column::scaled(double value) const {
  value = std::clamp(value, min, max);
  if (scale == Scale::kLinear) return (value - min) / (max - min);
  const double least = std::log1p(min);
  return std::clamp((std::log1p(value) - least) / (std::log1p(max) - least), 0.0, 1.0);
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
    const bool is_spelled =
        std::any_of(spellings.begin(), spellings.end(), [&](const std::string& spelling) {
          return spelling == name ||
                 (column->ignore_case && small_letters(spelling) == small_letters(name));
        });
    if (names[c] == name || is_spelled) return c;
  }
  return std::nullopt;
}

double Schema::row_norm_bound(bool bias) const {
  double sum_squares = groups() + (bias ? 1 : 0);
  for (const Column& column : columns) {
    if (column.kind == Kind::kCategorical) sum_squares += 1;
    if (column.kind != Kind::kNumeric) continue;
    // Present: at most 1. Missing: the indicator, and where there is a filler what it becomes, its
    // bin or a number in the precision in which it is stored.
    double filler = 0;
    if (column.filler)
      filler = column.edges.empty()
                   ? static_cast<double>(static_cast<float>(column.scaled(*column.filler)))
                   : 1;
    sum_squares += column.missing_indicator ? 1 + filler * filler : 1;
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
