#include "sotto/data/column_facts.hpp"

#include <fmt/format.h>

#include <set>

#include "sotto/core/text.hpp"
#include "sotto/data/date_form.hpp"
#include "sotto/data/io/numbers.hpp"
#include "sotto/data/toml_reader.hpp"

namespace sotto {
namespace {

std::string bound_text(double bound, ColumnFacts::Type type) {
  static const DateForm form = *DateForm::parse("%Y-%m-%d");
  return type == ColumnFacts::Type::kDate || type == ColumnFacts::Type::kTime
             ? form.text(bound)
             : fmt::format("{}", bound);
}

}  // namespace

std::string why_not_in_a_draft(const std::string& text) {
  if (on_one_line(text) != text) return "has characters that nobody sees, or is no UTF-8";
  if (text.starts_with(kQuestion))
    return fmt::format("begins with {}, as what a draft leaves open", kQuestion);
  return "";
}

std::string contradiction_in(const ColumnFacts& facts) {
  for (const auto& bound : {facts.min, facts.max})
    if (bound && !fits_float(*bound))
      return fmt::format(
          "the bound {} of column '{}' is beyond float32, as which values are stored.",
          *bound,
          facts.name);
  if (facts.min && facts.max && !(*facts.min < *facts.max))
    return fmt::format("the bounds of column '{}' must be in order, but {} is not less than {}.",
                       facts.name,
                       bound_text(*facts.min, facts.type),
                       bound_text(*facts.max, facts.type));
  std::set<std::string> seen;
  for (const std::string& value : facts.values)
    if (!seen.insert(value).second)
      return fmt::format("column '{}' names the value '{}' twice.", facts.name, value);
  return "";
}

}  // namespace sotto
