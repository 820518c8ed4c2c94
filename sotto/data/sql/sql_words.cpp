#include "sotto/data/sql/sql_words.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "sotto/data/date_form.hpp"
#include "sotto/data/io/numbers.hpp"
#include "sotto/data/spellings.hpp"

namespace sotto {
namespace {

using SqlWords = std::span<const SqlWord>;
using WordKind = SqlWord::Kind;

bool is_sql_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         (static_cast<unsigned char>(c) & 0x80U) != 0;
}
bool is_sql_digit(char c) { return c >= '0' && c <= '9'; }

/// Takes what is between quotes, of which two stand for one.
std::string take_quoted(std::string_view& sql, char end) {
  std::string text;
  for (sql.remove_prefix(1); !sql.empty(); sql.remove_prefix(1)) {
    if (sql.front() == end) {
      sql.remove_prefix(1);
      if (sql.empty() || sql.front() != end || end == ']') return text;
    }
    text += sql.front();
  }
  return text;
}

std::string take_while(std::string_view& sql, bool (*belongs)(char)) {
  const auto end = std::find_if_not(sql.begin(), sql.end(), belongs);
  std::string text(sql.begin(), end);
  sql.remove_prefix(text.size());
  return text;
}

void skip_comment(std::string_view& sql, std::string_view end) {
  const std::size_t found = sql.find(end, 2);
  sql.remove_prefix(found == sql.npos ? sql.size() : found + end.size());
}

bool is_sign(const SqlWord& word, std::string_view sign) {
  return word.kind == WordKind::kSign && word.text == sign;
}
bool opens_bracket(const SqlWord& word) { return is_sign(word, "(") || is_sign(word, "["); }

/// Without casts (`x::text`, `x::character varying(20)[]`), which say nothing of values.
std::vector<SqlWord> without_casts(SqlWords words) {
  std::vector<SqlWord> result;
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (!is_sign(words[k], "::")) {
      result.push_back(words[k]);
      continue;
    }
    while (k + 1 < words.size() && words[k + 1].is_name() && !words[k + 1].is("AND") &&
           !words[k + 1].is("OR"))
      ++k;
    while (k + 1 < words.size() && opens_bracket(words[k + 1]))
      k = behind_bracket(words, k + 1) - 1;
  }
  return result;
}

/// Without brackets around all of it.
SqlWords without_brackets(SqlWords words) {
  while (words.size() >= 2 && is_sign(words.front(), "(") &&
         behind_bracket(words, 0) == words.size())
    words = words.subspan(1, words.size() - 2);
  return words;
}

/// Parts between a keyword outside of brackets; BETWEEN has an AND of its own.
std::vector<SqlWords> parts_between(SqlWords words, std::string_view keyword) {
  std::vector<SqlWords> parts;
  std::size_t begin = 0;
  bool between = false;
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (opens_bracket(words[k])) {
      k = behind_bracket(words, k) - 1;
    } else if (words[k].is("BETWEEN")) {
      between = true;
    } else if (words[k].is(keyword)) {
      if (keyword == "AND" && std::exchange(between, false)) continue;
      parts.push_back(words.subspan(begin, k - begin));
      begin = k + 1;
    }
  }
  parts.push_back(words.subspan(begin));
  return parts;
}

std::vector<SqlWords> parts_between_commas(SqlWords words) {
  std::vector<SqlWords> parts;
  std::size_t begin = 0;
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (opens_bracket(words[k])) {
      k = behind_bracket(words, k) - 1;
    } else if (is_sign(words[k], ",")) {
      parts.push_back(words.subspan(begin, k - begin));
      begin = k + 1;
    }
  }
  parts.push_back(words.subspan(begin));
  return parts;
}

class SqlCondition {
 public:
  explicit SqlCondition(std::vector<ColumnFacts>& columns) : columns_(columns) {}
  void read(SqlWords words);

 private:
  ColumnFacts* column(SqlWords words) const;
  /// A number, or the days of a date; the words may be in brackets.
  static std::optional<double> number(SqlWords words);
  static void list(SqlWords words, ColumnFacts& facts);
  static void read_between(ColumnFacts& facts, SqlWords bounds);
  static void read_any(ColumnFacts& facts, SqlWords words);
  void read_comparison(SqlWords words);

  std::vector<ColumnFacts>& columns_;
};

ColumnFacts* SqlCondition::column(SqlWords words) const {
  words = without_brackets(words);
  if (words.size() != 1 || !words.front().is_name()) return nullptr;
  const auto found = std::find_if(columns_.begin(), columns_.end(), [&](const auto& facts) {
    return names_column(words.front(), facts.name);
  });
  return found == columns_.end() ? nullptr : &*found;
}

std::optional<double> SqlCondition::number(SqlWords words) {
  words = without_brackets(words);
  bool is_negative = false;
  if (words.size() == 2 && is_sign(words.front(), "-")) {
    is_negative = true;
    words = without_brackets(words.subspan(1));
  }
  if (words.size() != 1 || (words[0].kind != WordKind::kNumber && words[0].kind != WordKind::kText))
    return std::nullopt;
  const std::string& text = words[0].text;
  double value = 0;
  const char* end = text.data() + text.size();
  if (text.empty() || parse_number(text.data(), end, value) != end) {
    static const DateForm form = *DateForm::parse("%Y-%m-%d");
    value = words[0].kind == WordKind::kText ? form.days(text) : NAN;
  }
  if (!std::isfinite(value)) return std::nullopt;
  return is_negative ? -value : value;
}

void SqlCondition::list(SqlWords words, ColumnFacts& facts) {
  std::vector<std::string> values;
  for (const SqlWords item : parts_between_commas(without_brackets(words))) {
    const SqlWords value = without_brackets(item);
    const bool is_negative = value.size() == 2 && is_sign(value[0], "-");
    if (value.size() != 1 && !is_negative) return;
    const SqlWord& word = value.back();
    if (word.kind != WordKind::kNumber && (word.kind != WordKind::kText || is_negative)) return;
    const std::string text = (is_negative ? "-" : "") + word.text;
    if (std::find(values.begin(), values.end(), text) == values.end()) values.push_back(text);
  }
  // Of two lists the first: what both allow is in it.
  if (facts.values.empty()) facts.values = std::move(values);
}

void SqlCondition::read_between(ColumnFacts& facts, SqlWords bounds) {
  const auto ends = parts_between(bounds, "AND");
  if (ends.size() != 2) return;
  const auto low = number(ends[0]);
  const auto high = number(ends[1]);
  if (low) facts.min = std::max(*low, facts.min.value_or(*low));
  if (high) facts.max = std::min(*high, facts.max.value_or(*high));
}

/// `= ANY (ARRAY['a', 'b'])`, which PostgreSQL makes of IN.
void SqlCondition::read_any(ColumnFacts& facts, SqlWords words) {
  if (words.size() < 2 || !words[0].is("ANY")) return;
  words = without_brackets(words.subspan(1));
  if (words.size() > 2 && words[0].is("ARRAY") && is_sign(words[1], "[") &&
      behind_bracket(words, 1) == words.size())
    list(words.subspan(2, words.size() - 3), facts);
}

void SqlCondition::read_comparison(SqlWords words) {
  if (words.empty()) return;
  const std::size_t at = opens_bracket(words[0])  ? behind_bracket(words, 0)
                         : is_sign(words[0], "-") ? 2
                                                  : 1;
  if (at + 1 >= words.size()) return;
  const SqlWords left = words.subspan(0, at);
  const SqlWords right = words.subspan(at + 1);
  const SqlWord& sign = words[at];
  if (ColumnFacts* facts = column(left)) {
    if (sign.is("IN")) return list(right, *facts);
    if (sign.is("BETWEEN")) return read_between(*facts, right);
    if (is_sign(sign, "=")) return read_any(*facts, right);
  }
  const bool is_less = is_sign(sign, "<") || is_sign(sign, "<=");
  if (!is_less && !is_sign(sign, ">") && !is_sign(sign, ">=")) return;
  const bool is_turned = column(left) == nullptr;  // 0 <= x
  ColumnFacts* facts = column(is_turned ? right : left);
  const auto bound = number(is_turned ? left : right);
  if (facts == nullptr || !bound) return;
  if (is_less != is_turned)
    facts->max = std::min(*bound, facts->max.value_or(*bound));
  else
    facts->min = std::max(*bound, facts->min.value_or(*bound));
}

void SqlCondition::read(SqlWords words) {
  words = without_brackets(words);
  auto choices = parts_between(words, "OR");
  // `sex IS NULL OR sex IN (…)` says of values what its other part says.
  std::erase_if(choices, [](SqlWords each) {
    each = without_brackets(each);
    return each.size() >= 2 && each[each.size() - 2].is("IS") && each.back().is("NULL");
  });
  if (choices.size() != 1) return;
  const auto parts = parts_between(without_brackets(choices.front()), "AND");
  if (parts.size() == 1) {
    const SqlWords one = without_brackets(parts.front());
    return parts_between(one, "OR").size() == 1 ? read_comparison(one) : read(one);
  }
  for (const SqlWords part : parts) read(part);
}

}  // namespace

bool SqlWord::is(std::string_view keyword) const {
  return kind == WordKind::kName && small_letters(text) == small_letters(keyword);
}

std::vector<SqlWord> sql_words(std::string_view sql) {
  std::vector<SqlWord> words;
  while (!sql.empty()) {
    const char c = sql.front();
    if (sql.starts_with("--")) {
      skip_comment(sql, "\n");
    } else if (sql.starts_with("/*")) {
      skip_comment(sql, "*/");
    } else if (c == '\'') {
      words.push_back({WordKind::kText, take_quoted(sql, '\'')});
    } else if (c == '"' || c == '`') {
      words.push_back({WordKind::kQuotedName, take_quoted(sql, c)});
    } else if (is_sql_letter(c)) {
      words.push_back({WordKind::kName, take_while(sql, [](char d) {
                         return is_sql_letter(d) || is_sql_digit(d);
                       })});
    } else if (is_sql_digit(c) || (c == '.' && sql.size() > 1 && is_sql_digit(sql[1]))) {
      words.push_back({WordKind::kNumber, take_while(sql, [](char d) {
                         return is_sql_digit(d) || d == '.' || d == 'e';
                       })});
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      sql.remove_prefix(1);
    } else {
      std::size_t size = 1;
      for (const char* sign : {"::", "<=", ">=", "<>", "!=", "=="})
        if (sql.starts_with(sign)) size = 2;
      words.push_back({WordKind::kSign, std::string(sql.substr(0, size))});
      sql.remove_prefix(size);
    }
  }
  return words;
}

std::size_t behind_bracket(SqlWords words, std::size_t open) {
  int depth = 0;
  for (std::size_t k = open; k < words.size(); ++k) {
    if (opens_bracket(words[k])) ++depth;
    if ((is_sign(words[k], ")") || is_sign(words[k], "]")) && --depth == 0) return k + 1;
  }
  return words.size();
}

bool names_column(const SqlWord& word, std::string_view column) {
  if (word.kind == WordKind::kQuotedName) return word.text == column;
  return small_letters(word.text) == small_letters(column);
}

void read_condition(SqlWords condition, std::vector<ColumnFacts>& columns) {
  const std::vector<SqlWord> words = without_casts(condition);
  SqlCondition(columns).read(words);
}

}  // namespace sotto
