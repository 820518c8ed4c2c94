#include "sotto/model/deploy/sql_encoding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sotto/data/row_scale.hpp"
#include "sotto/model/deploy/deployment.hpp"

namespace sotto::deploy {
namespace {

using Column = Encoding::Column;

std::string column_number(const char* kind, std::size_t j) { return fmt::format("{}{}", kind, j); }

/// Half of the least float32, and all that is less, is rounded to 0.
constexpr double kLeastSingle = 0x1p-150;

std::string when(const std::string& condition, const std::string& result) {
  return " WHEN " + condition + " THEN " + result;
}

/// Beside its number or bin; of a text, a missing one is a place like others.
bool has_indicator(const Column& column) {
  return column.missing != Encoding::kNone && !column.is_text();
}

/// The text in small letters. Only letters of the spellings can decide whether it is one of them;
/// lower() would change letters other than A to Z in some databases.
std::string folded(std::string expression, const Column& column) {
  for (char letter = 'a'; letter <= 'z'; ++letter)
    if (std::any_of(column.spellings.begin(), column.spellings.end(), [&](const auto& each) {
          return each.text.find(letter) != std::string::npos;
        }))
      expression = fmt::format(
          "replace({}, '{}', '{}')", expression, static_cast<char>(letter - 32), letter);
  return expression;
}

/// The number that a text is, or NULL: an optional sign, digits, a point. Both databases would cast
/// other texts to something, or fail. So would PostgreSQL where a double can't hold the number:
/// more than 300 digits before the point are none, and behind it no digit counts that is further
/// from the first.
std::string number_in(const std::string& text) {
  constexpr int kMostDigits = 300;
  std::string rest = text;
  for (char digit = '0'; digit <= '9'; ++digit)
    rest = fmt::format("replace({}, '{}', '')", rest, digit);
  const std::string digits = fmt::format("substr(ltrim({}, '+-0'), 1, {})", text, kMostDigits);
  return fmt::format(
      "CASE WHEN length({0}) > length({1}) AND ({1} IN ('', '.') OR ({1} IN ('-', '+', '-.', '+.') "
      "AND substr({0}, 1, 1) IN ('-', '+'))) AND (length({2}) < {3} OR {2} <> replace({2}, '.', "
      "'')) THEN CASE WHEN substr({0}, 1, 1) = '-' THEN -1.0 ELSE 1.0 END * CAST('0' || {2} AS "
      "DOUBLE PRECISION) END",
      text,
      rest,
      digits,
      kMostDigits);
}

/// log(1 + d), also where d is so small that 1 + d has lost its digits: by as much as it lost.
std::string sql_log1p(const std::string& d) {
  return fmt::format(
      "CASE WHEN 1.0 + {0} = 1.0 THEN {0} ELSE ln(1.0 + {0}) * ({0} / (1.0 + {0} - 1.0)) END", d);
}

/// The spellings by feature, in the order in which features first occur.
std::vector<std::pair<std::int64_t, std::vector<std::string>>> by_feature(const Column& column) {
  std::vector<std::pair<std::int64_t, std::vector<std::string>>> result;
  std::map<std::int64_t, std::size_t> places;
  for (const auto& each : column.spellings) {
    const auto [place, is_new] = places.emplace(each.feature, result.size());
    if (is_new) result.push_back({each.feature, {}});
    result[place->second].second.push_back(each.text);
  }
  return result;
}

}  // namespace

Expected<SqlEncoding> SqlEncoding::of(const Encoding& encoding, double row_norm, bool bias) {
  for (const Column& column : encoding.columns)
    if (!column.date.empty())
      return fail(ErrorKind::kUsage,
                  fmt::format("the column '{}' is a date of the form '{}', which databases read in "
                              "different ways. Use ‘format c’, or train with the number of days as "
                              "a numeric column.",
                              column.name,
                              column.date));
  return SqlEncoding(encoding, row_norm, bias);
}

/// What the table has, of the types that we compute with: d a finite number, t a text.
void SqlEncoding::add_fields(SqlSteps& steps) const {
  for (std::size_t j = 0; j < encoding_.columns.size(); ++j) {
    const Column& column = encoding_.columns[j];
    const std::string cell = "t." + sql_name(column.name);
    if (column.is_text()) {
      // Joined to a text, it is compared byte by byte, whatever order the column was declared with.
      steps.add(column_number("t", j), fmt::format("CAST({} AS TEXT) || ''", cell));
      continue;
    }
    const std::string number = fmt::format("CAST({} AS DOUBLE PRECISION)", cell);
    // SQLite makes 0 of a text that is no number: then it is not equal to its cell.
    steps.add(column_number("d", j),
              fmt::format("CASE WHEN {0} = {1} AND {1} BETWEEN -1.7976931348623157e308 AND "
                          "1.7976931348623157e308 THEN {1} END",
                          cell,
                          number));
    if (column.form == Column::Form::kFlag) continue;
    steps.add(
        column_number("m", j),
        fmt::format("CASE WHEN {0} IS NULL OR CAST({0} AS TEXT) || '' IN {1} THEN 1 ELSE 0 END",
                    cell,
                    sql_list(encoding_.missing)));
  }
}

void SqlEncoding::add_readings(SqlSteps& steps) const {
  const std::vector<double> numbers = encoding_.missing_numbers();
  for (std::size_t j = 0; j < encoding_.columns.size(); ++j) {
    const Column& column = encoding_.columns[j];
    if (column.is_text()) {
      const std::string text = column_number("t", j);
      std::string looked_at = text;
      if (column.prefix > 0) looked_at = fmt::format("substr({}, 1, {})", text, column.prefix);
      if (column.ignore_case) looked_at = folded(looked_at, column);
      steps.keep(text);
      steps.add(column_number("f", j), looked_at);
      continue;
    }
    steps.keep(column_number("d", j));
    if (column.form == Column::Form::kFlag) continue;
    std::string missing = column_number("m", j) + " = 1";
    for (const double each : numbers)
      missing += fmt::format(" OR {} = {}", column_number("d", j), literal(each));
    steps.add(column_number("m", j), "CASE WHEN " + missing + " THEN 1 ELSE 0 END");
  }
}

std::string SqlEncoding::scaled(const Column& column, std::size_t j) const {
  const std::string d = column_number("d", j);
  if (column.form == Column::Form::kFlag)
    return fmt::format("CASE WHEN {0} = 1.0 THEN 1.0 WHEN {0} = 0.0 THEN 0.0 END", d);
  const std::string filler =
      column.refuses_missing ? "NULL" : literal(in_single(column.when_missing));
  const double least = column.log1p ? std::log1p(column.min) : column.min;
  const double span = (column.log1p ? std::log1p(column.max) : column.max) - least;
  // What float32 rounds to 0 is 0 at once: PostgreSQL fails where a quotient is too small for it.
  const double no_more = kLeastSingle * span * (column.log1p ? 1 + column.min : 1);
  return "CASE" + when(column_number("m", j) + " = 1", filler) +
         when(fmt::format("{} - {} <= {}", d, literal(column.min), literal(no_more)), "0.0") +
         when(fmt::format("{} >= {}", d, literal(column.max)), "1.0") +
         fmt::format(" ELSE ({} - {}) / {} END",
                     column.log1p ? sql_log1p(d) : d,
                     literal(least),
                     literal(span));
}

std::string SqlEncoding::bin(const Column& column, std::size_t j) const {
  const std::string d = column_number("d", j);
  std::string result =
      "CASE" +
      when(column_number("m", j) + " = 1",
           column.refuses_missing ? "NULL" : fmt::format("{}", column.bin_of_missing)) +
      when(d + " IS NULL", "NULL");
  for (std::size_t k = 0; k < column.edges.size(); ++k)
    result += when(fmt::format("{} < {}", d, literal(column.edges[k])),
                   fmt::format("{}", column.first + static_cast<std::int64_t>(k)));
  return result + fmt::format(" ELSE {} END", column.first + std::ssize(column.edges));
}

std::string SqlEncoding::place(const Column& column, std::size_t j) const {
  const std::string t = column_number("t", j);
  const std::string f = column_number("f", j);
  std::string result = "CASE" + when(t + " IS NULL", fmt::format("{}", column.absent_text()));
  for (const auto& [feature, texts] : by_feature(column))
    result += when(f + " IN " + sql_list(texts), fmt::format("{}", feature));
  result +=
      when(t + " IN " + sql_list(encoding_.missing), fmt::format("{}", column.missing_text()));
  for (const auto& range : column.ranges)
    result += when(
        fmt::format(
            "{} BETWEEN {} AND {}", column_number("g", j), literal(range.low), literal(range.high)),
        fmt::format("{}", range.feature));
  return result + fmt::format(" ELSE {} END", column.other);
}

/// Of numbers what they are scaled to (v, not rounded yet), of others the place (p).
void SqlEncoding::add_places(SqlSteps& steps) const {
  for (std::size_t j = 0; j < encoding_.columns.size(); ++j) {
    const Column& column = encoding_.columns[j];
    if (column.is_text())
      steps.add(column_number("p", j), place(column, j));
    else if (column.form == Column::Form::kBins)
      steps.add(column_number("p", j), bin(column, j));
    else
      steps.add(column_number("v", j), scaled(column, j));
    if (has_indicator(column)) steps.keep(column_number("m", j));
  }
}

void SqlEncoding::add_features(SqlSteps& steps, const Kept& kept) const {
  add_fields(steps);
  steps.end_step();  // in which the caller has named its own
  add_readings(steps);
  kept(steps);
  steps.end_step();
  if (add_numbers_in_texts(steps)) {
    kept(steps);
    steps.end_step();
  }
  add_places(steps);
  kept(steps);
  steps.end_step();
  std::map<int, std::string> flags;
  for (std::size_t j = 0; j < encoding_.columns.size(); ++j)
    if (std::string& sum = flags[encoding_.columns[j].group]; encoding_.columns[j].group >= 0)
      sum += (sum.empty() ? "" : " + ") + column_number("v", j);
  add_columns(steps, [&](std::size_t j) {
    const std::string v = column_number("v", j);
    const int group = encoding_.columns[j].group;
    return group < 0 ? sql_in_single(v)
                     : fmt::format("CASE WHEN {} <= 1.0 THEN {} END", flags[group], v);
  });
  kept(steps);
  steps.end_step();
  if (row_norm_ > 0) add_scaling(steps, kept);
}

/// The texts that may be numbers from low to high, as numbers (g). False: there are none.
bool SqlEncoding::add_numbers_in_texts(SqlSteps& steps) const {
  const auto& columns = encoding_.columns;
  if (std::all_of(
          columns.begin(), columns.end(), [](const Column& each) { return each.ranges.empty(); }))
    return false;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    if (columns[j].is_text()) {
      steps.keep(column_number("t", j));
      steps.keep(column_number("f", j));
      if (!columns[j].ranges.empty())
        steps.add(column_number("g", j), number_in(column_number("f", j)));
      continue;
    }
    steps.keep(column_number("d", j));
    if (columns[j].form != Column::Form::kFlag) steps.keep(column_number("m", j));
  }
  return true;
}

/// What is known of each column after add_places(); of a number, `number` says what v becomes.
void SqlEncoding::add_columns(SqlSteps& steps,
                              const std::function<std::string(std::size_t)>& number) const {
  for (std::size_t j = 0; j < encoding_.columns.size(); ++j) {
    const Column& column = encoding_.columns[j];
    if (column.is_one_of_many())
      steps.keep(column_number("p", j));
    else
      steps.add(column_number("v", j), number(j));
    if (has_indicator(column)) steps.keep(column_number("m", j));
  }
}

/// As TableBuilder does it (data/row_scale.hpp): o is what becomes of a 1.
void SqlEncoding::add_scaling(SqlSteps& steps, const Kept& kept) const {
  const auto same = [](std::size_t j) { return column_number("v", j); };
  std::vector<std::string> squares;
  for (std::size_t j = 0; j < encoding_.columns.size(); ++j) {
    const Column& column = encoding_.columns[j];
    squares.push_back(column.is_one_of_many()
                          ? fmt::format("CASE WHEN p{0} >= 0 THEN 1.0 ELSE 0.0 END", j)
                          : fmt::format("v{0} * v{0}", j));
    if (has_indicator(column)) squares.push_back(column_number("m", j));
  }
  if (bias_) squares.emplace_back("1.0");
  steps.add("q", "sqrt(CAST(" + sql_sum(squares) + " AS DOUBLE PRECISION))");
  add_columns(steps, same);
  kept(steps);
  steps.end_step();
  steps.add(
      "o",
      fmt::format("CASE WHEN q * {2} >= {0} THEN 0.0 WHEN q > {0} THEN {0} / q * {1} ELSE 1.0 "
                  "END",
                  literal(row_norm_),
                  literal(shrinking(encoding_.features + (bias_ ? 1 : 0))),
                  literal(kLeastSingle)));
  add_columns(steps, same);
  kept(steps);
  steps.end_step();
  steps.keep("o");
  add_columns(steps, [](std::size_t j) { return fmt::format("v{} * o", j); });
  kept(steps);
  steps.end_step();
  steps.add("o", sql_in_single("o"));
  add_columns(steps, [](std::size_t j) { return sql_in_single(column_number("v", j)); });
  kept(steps);
  steps.end_step();
}

std::string SqlEncoding::sum(const double* weights, double bias) const {
  std::vector<std::string> terms;
  std::vector<std::string> ones = {"CAST(" + literal(bias) + " AS DOUBLE PRECISION)"};
  for (std::size_t j = 0; j < encoding_.columns.size(); ++j) {
    const Column& column = encoding_.columns[j];
    if (column.is_one_of_many()) {
      std::string places;
      for (std::int64_t k = column.first; k < column.first + column.features; ++k)
        if (weights[k] != 0) places += when(fmt::format("{}", k), literal(weights[k]));
      // No place at all (NULL) is no answer.
      ones.push_back(places.empty() ? fmt::format("0.0 * p{}", j)
                                    : fmt::format("CASE p{0}{1} ELSE 0.0 * p{0} END", j, places));
      if (column.is_text()) continue;
    } else {
      terms.push_back(fmt::format("v{} * {}", j, literal(weights[column.first])));
    }
    if (has_indicator(column))
      ones.push_back(fmt::format("m{} * {}", j, literal(weights[column.missing])));
  }
  if (row_norm_ > 0)
    terms.push_back("o * (" + sql_sum(ones) + ")");
  else
    terms.insert(terms.end(), ones.begin(), ones.end());
  return sql_sum(terms);
}

}  // namespace sotto::deploy
