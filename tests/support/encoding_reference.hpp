#pragma once

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/data/encoding.hpp"

namespace sotto::testing {

/// A field of a row; none: there is no value (NULL).
using Field = std::optional<std::string>;

inline std::optional<double> plain_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

/// Only %Y-%m-%d.
inline std::optional<double> plain_days(const std::string& text) {
  int year = 0;
  unsigned month = 0, day = 0;
  for (std::size_t k = 0; k < text.size(); ++k)
    if (k == 4 || k == 7 ? text[k] != '-' : text[k] < '0' || text[k] > '9') return std::nullopt;
  if (text.size() != 10 || std::sscanf(text.c_str(), "%4d-%2u-%2u", &year, &month, &day) != 3)
    return std::nullopt;
  const std::chrono::year_month_day date{
      std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)};
  if (!date.ok()) return std::nullopt;
  return static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
}

/// What sotto/data/encoding.hpp says, slowly and by other means than any of its users. None: the
/// row does not fit. `fields`: one per column of the encoding.
inline std::optional<std::vector<double>> reference_features(const Encoding& encoding,
                                                             const std::vector<Field>& fields) {
  using Form = Encoding::Column::Form;
  std::vector<double> x(static_cast<std::size_t>(encoding.features));
  const auto set = [&](std::int64_t feature, double value) {
    if (feature != Encoding::kNone)
      x[static_cast<std::size_t>(feature)] = static_cast<double>(static_cast<float>(value));
  };
  const auto is_listed = [&](const Field& field) {
    return std::find(encoding.missing.begin(), encoding.missing.end(), *field) !=
           encoding.missing.end();
  };
  std::vector<int> flags(static_cast<std::size_t>(encoding.groups));
  for (std::size_t j = 0; j < fields.size(); ++j) {
    const auto& column = encoding.columns[j];
    const Field& field = fields[j];
    if (column.form == Form::kText) {
      if (!field) {
        set(column.absent_text(), 1);
        continue;
      }
      std::string text = *field;
      if (column.prefix > 0) {
        std::int64_t characters = 0;
        std::size_t bytes = 0;
        for (; bytes < text.size(); ++bytes)
          if ((static_cast<unsigned char>(text[bytes]) & 0xc0U) != 0x80 &&
              ++characters > column.prefix)
            break;
        text.resize(bytes);
      }
      if (column.ignore_case)
        for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
      std::int64_t place = column.other;
      if (const auto number = plain_number(text))
        for (auto range = column.ranges.rbegin(); range != column.ranges.rend(); ++range)
          if (*number >= range->low && *number <= range->high) place = range->feature;
      if (is_listed(field))
        place = column.missing == Encoding::kNone ? column.other : column.missing;
      for (const auto& each : column.spellings)
        if (each.text == text) place = each.feature;
      set(place, 1);
      continue;
    }
    if (column.form == Form::kFlag) {
      const auto number = field ? plain_number(*field) : std::nullopt;
      if (!number || (*number != 0 && *number != 1)) return std::nullopt;
      set(column.first, *number);
      flags[static_cast<std::size_t>(column.group)] += *number == 1 ? 1 : 0;
      continue;
    }
    if (!field || is_listed(field)) {
      if (column.refuses_missing) return std::nullopt;
      if (column.form == Form::kNumber) set(column.first, column.when_missing);
      set(column.bin_of_missing, 1);
      set(column.missing, 1);
      continue;
    }
    const auto number = column.date.empty() ? plain_number(*field) : plain_days(*field);
    if (!number) return std::nullopt;
    const double value = std::min(std::max(*number, column.min), column.max);
    if (column.form == Form::kBins) {
      std::int64_t bin = 0;
      for (const double edge : column.edges) bin += value >= edge ? 1 : 0;
      set(column.first + bin, 1);
    } else if (column.log1p) {
      const double span = std::log1p(column.max) - std::log1p(column.min);
      set(column.first, (std::log1p(value) - std::log1p(column.min)) / span);
    } else {
      set(column.first, (value - column.min) / (column.max - column.min));
    }
  }
  if (std::any_of(flags.begin(), flags.end(), [](int count) { return count > 1; }))
    return std::nullopt;
  return x;
}

}  // namespace sotto::testing
