// What somebody answers about a column of a draft.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "sotto/data/date_form.hpp"
#include "sotto/data/io/numbers.hpp"
#include "sotto/data/schema_draft.hpp"

namespace sotto {
namespace {

std::string_view without_blanks(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::optional<double> whole_number(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  if (text.empty() || parse_number(text.data(), end, value) != end || !std::isfinite(value))
    return std::nullopt;
  return value;
}

Expected<void> answer_bounds(std::string_view low,
                             std::string_view high,
                             bool is_log,
                             ColumnFacts& facts,
                             DraftChoices& choices) {
  static const DateForm form = *DateForm::parse("%Y-%m-%d");
  std::optional<double> min = whole_number(low);
  std::optional<double> max = whole_number(high);
  auto type = facts.type == ColumnFacts::Type::kInteger ? facts.type : ColumnFacts::Type::kReal;
  if (!min && !max && !std::isnan(form.days(low)) && !std::isnan(form.days(high))) {
    min = form.days(low);
    max = form.days(high);
    type = ColumnFacts::Type::kDate;
  }
  if (!min || !max || !(*min < *max) || (is_log && !(*min > -1)) || !fits_float(*min) ||
      !fits_float(*max))
    return fail(ErrorKind::kUsage,
                fmt::format("'{}..{}' are no bounds: two numbers, or two dates such as 2015-12-31, "
                            "of which the first is less, and that float32 can hold{}.",
                            low,
                            high,
                            is_log ? ", and more than -1 for log" : ""));
  facts.type = type;
  facts.min = min;
  facts.max = max;
  if (is_log) choices.log.insert(facts.name);
  return {};
}

/// `1..30` of `codes 1..30`.
Expected<void> answer_codes(std::string_view range, ColumnFacts& facts) {
  constexpr double kMost = 1000;
  const std::size_t dots = range.find("..");
  double low = -1;
  double high = -1;
  if (dots != range.npos) {
    low = whole_number(without_blanks(range.substr(0, dots))).value_or(-1);
    high = whole_number(without_blanks(range.substr(dots + 2))).value_or(-1);
  }
  if (!(low >= 0) || !(low < high) || low != std::floor(low) || high != std::floor(high) ||
      high - low >= kMost || high > 1e15)
    return fail(
        ErrorKind::kUsage,
        fmt::format("codes are given as `codes 1..30`: whole numbers, at most {} of them.", kMost));
  facts.values.clear();
  for (double code = low; code <= high; ++code) facts.values.push_back(fmt::format("{:.0f}", code));
  return {};
}

}  // namespace

Expected<void> answer(std::string_view line, ColumnFacts& facts, DraftChoices& choices) {
  line = without_blanks(line);
  if (line.empty()) return {};
  if (line == "-") {
    choices.ignored.insert(facts.name);
    return {};
  }
  if (line == "person") {
    if (!choices.person.empty())
      return fail(
          ErrorKind::kUsage,
          fmt::format("'{}' names the person already: only one column can.", choices.person));
    choices.person = facts.name;
    return {};
  }
  if (line.starts_with("codes ")) return answer_codes(line.substr(6), facts);
  if (const std::size_t dots = line.find(".."); dots != line.npos) {
    std::string_view high = line.substr(dots + 2);
    const bool is_log = high.ends_with(" log");
    if (is_log) high.remove_suffix(4);
    return answer_bounds(
        without_blanks(line.substr(0, dots)), without_blanks(high), is_log, facts, choices);
  }
  std::vector<std::string> values;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    const auto value = without_blanks(line.substr(begin, end - begin));
    begin = end + 1;
    if (!value.empty() && std::find(values.begin(), values.end(), value) == values.end())
      values.emplace_back(value);
  }
  for (const std::string& value : values)
    if (const std::string why = why_not_in_a_draft(value); !why.empty())
      return fail(ErrorKind::kUsage, fmt::format("the value '{}' {}.", value, why));
  if (values.size() < 2)
    return fail(
        ErrorKind::kUsage,
        "an answer is bounds (0..120), a list of values (yes, no), codes 1..30, - (ignored), "
        "person, or nothing.");
  facts.values = std::move(values);
  return {};
}

}  // namespace sotto
