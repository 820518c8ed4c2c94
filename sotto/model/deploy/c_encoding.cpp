#include "sotto/model/deploy/c_encoding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/model/deploy/c_text.hpp"
#include "sotto/model/deploy/decimal_edge.hpp"
#include "sotto/model/deploy/deployment.hpp"

namespace sotto::deploy {
namespace {

using Column = Encoding::Column;

/// `sign` stands for the name: NAME where the code is fixed, and a character that no literal and no
/// comment has where it holds names from a schema.
std::string with_name(std::string code, std::string_view sign, const std::string& name) {
  for (std::size_t at = code.find(sign); at != code.npos; at = code.find(sign, at + name.size()))
    code.replace(at, sign.size(), name);
  return code;
}

constexpr const char* kTexts = R"(
typedef struct NAME_spelling {
  const char *text;
  int feature;
} NAME_spelling;

/* Which of the spellings the first `size` bytes are, or -1; `fold`: A to Z count as a to z. */
static inline int NAME_find(const char *text, size_t size, int fold, const NAME_spelling *list,
                            size_t count) {
  size_t k, i;
  for (k = 0; k < count; ++k) {
    const char *other = list[k].text;
    for (i = 0; i < size && other[i] != 0; ++i) {
      char c = text[i];
      if (fold && c >= 'A' && c <= 'Z') c = (char)(c - 'A' + 'a');
      if (c != other[i]) break;
    }
    if (i == size && other[i] == 0) return list[k].feature;
  }
  return -1;
}
)";

constexpr const char* kPrefix = R"(
/* The bytes of the first characters (UTF-8) of a text. */
static inline size_t NAME_prefix(const char *text, size_t characters) {
  size_t bytes = 0;
  for (; text[bytes] != 0; ++bytes)
    if (((unsigned char)text[bytes] & 0xc0) != 0x80 && characters-- == 0) break;
  return bytes;
}
)";

constexpr const char* kNumbers = R"(
/* The number sign * 0.DIGITS * 10^point; a point may stand among the digits. */
typedef struct NAME_decimal {
  const char *digits;
  size_t size;
  long point;
  int sign;
} NAME_decimal;

/* The number that the first `size` bytes are: digits, a point, an exponent. 0: they are none. */
static inline int NAME_number(const char *text, size_t size, NAME_decimal *number) {
  size_t i = 0, digits = 0;
  int down = 0, point = 0, negative = 0;
  long power = 0;
  number->sign = 0;
  number->point = 0;
  number->digits = text;
  number->size = 0;
  if (i < size && (text[i] == '+' || text[i] == '-')) negative = text[i++] == '-';
  for (; i < size && ((text[i] == '.' && !point) || (text[i] >= '0' && text[i] <= '9')); ++i) {
    if (text[i] == '.') {
      point = 1;
      continue;
    }
    ++digits;
    if (number->sign == 0 && text[i] != '0') {
      number->sign = negative ? -1 : 1;
      number->digits = text + i;
    }
    if (number->sign != 0 && !point) ++number->point;
    if (number->sign == 0 && point) --number->point;
  }
  if (digits == 0) return 0;
  number->size = (size_t)(text + i - number->digits);
  if (i < size && (text[i] == 'e' || text[i] == 'E')) {
    size_t first;
    if (++i < size && (text[i] == '+' || text[i] == '-')) down = text[i++] == '-';
    for (first = i; i < size && text[i] >= '0' && text[i] <= '9'; ++i)
      if (power < 100000000) power = power * 10 + (text[i] - '0');
    if (i == first) return 0;
  }
  number->point += down ? -power : power;
  return i == size;
}

/* Whether it is less (-1) or more (1) than another number that is not 0, or the same (0). */
static inline int NAME_against(const NAME_decimal *number, int sign, long point,
                               const char *digits) {
  size_t i = 0;
  if (number->sign != sign) return number->sign < sign ? -1 : 1;
  if (number->point != point) return number->point < point ? -sign : sign;
  for (; i < number->size || *digits != 0; ++i) {
    const int other = *digits != 0 ? *digits : '0';
    const int own = i < number->size ? number->digits[i] : '0';
    if (own == '.') continue;
    if (own != other) return own < other ? -sign : sign;
    if (*digits != 0) ++digits;
  }
  return 0;
}
)";

constexpr const char* kDates = R"(
/* Days since 1970-01-01 of a date of this form, or NAN. */
static inline double NAME_days(const char *text, const char *form) {
  static const char parts[] = "YmdHMS";
  static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  long value[6] = {0, 1, 1, 0, 0, 0};
  long year, days, month;
  int leap;
  for (; *form != 0; ++form) {
    if (*form == '%' && *++form != '%') {
      const size_t part = (size_t)(strchr(parts, *form) - parts);
      const int most = part == 0 ? 4 : 2;
      int digits = 0;
      value[part] = 0;
      for (; digits < most && *text >= '0' && *text <= '9'; ++digits)
        value[part] = value[part] * 10 + (*text++ - '0');
      if (digits == 0 || (part == 0 && digits < most)) return NAN;
    } else if (*text++ != *form) {
      return NAN;
    }
  }
  year = value[0];
  leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  if (*text != 0 || value[1] < 1 || value[1] > 12 || value[2] < 1) return NAN;
  if (value[2] > lengths[value[1] - 1] + (leap && value[1] == 2)) return NAN;
  if (value[3] > 23 || value[4] > 59 || value[5] > 59) return NAN;
  days = 365 * year + (year + 3) / 4 - (year + 99) / 100 + (year + 399) / 400 - 719528;
  for (month = 1; month < value[1]; ++month) days += lengths[month - 1] + (leap && month == 2);
  days += value[2] - 1;
  return (double)days + (double)((value[3] * 60 + value[4]) * 60 + value[5]) / 86400.0;
}
)";

/// Lines with two more blanks before them.
std::string deeper(const std::string& lines) {
  std::string result;
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = lines.find('\n', begin) + 1;
    result += "  " + lines.substr(begin, end - begin);
    begin = end;
  }
  return result;
}

/// Of a field t of the row.
constexpr const char* kIsMissing =
    "\1_find(t, strlen(t), 0, missing_texts, sizeof missing_texts / sizeof *missing_texts) >= 0";

/// As a double the text's number would be rounded, and compared with the rounded one of predict.
std::string beyond(const DecimalEdge& edge, char order) {
  return fmt::format("\1_against(&number, {}, {}, \"{}\") {}{} 0",
                     edge.sign,
                     edge.point,
                     edge.digits,
                     order,
                     edge.rounds_in ? "=" : "");
}

class Writer {
 public:
  Writer(const Encoding& encoding, const std::string& name) : encoding_(encoding), name_(name) {
    for (const Column& column : encoding.columns) fields_.push_back(names_(column.name));
  }

  std::string structure() const;
  std::string helpers() const;
  std::string function() const;

 private:
  static bool takes_text(const Column& column) { return column.is_text() || !column.date.empty(); }
  std::string table(const char* name, const std::vector<Column::Spelling>& spellings) const;
  std::string missing_table() const;
  std::string number(const Column& column) const;
  std::string present_number(const Column& column) const;
  std::string flag(const Column& column) const;
  std::string text(const Column& column) const;

  const Encoding& encoding_;
  const std::string& name_;
  CNames names_;
  std::vector<std::string> fields_;
};

std::string Writer::structure() const {
  std::string code = "\ntypedef struct \1_row {\n";
  for (std::size_t k = 0; k < fields_.size(); ++k) {
    const Column& column = encoding_.columns[k];
    code += fmt::format("  {}{}; /* {}{} */\n",
                        takes_text(column) ? "const char *" : "double ",
                        fields_[k],
                        c_comment(column.name),
                        column.form == Column::Form::kFlag ? ": 0 or 1"
                        : !column.date.empty()             ? ": a date, " + c_comment(column.date)
                                                           : "");
  }
  return code + "} \1_row;\n";
}

std::string Writer::helpers() const {
  bool texts = false, prefix = false, numbers = false, dates = false;
  for (const Column& column : encoding_.columns) {
    texts = texts || takes_text(column);
    prefix = prefix || column.prefix > 0;
    numbers = numbers || !column.ranges.empty();
    dates = dates || !column.date.empty();
  }
  return std::string(texts ? kTexts : "") + (prefix ? kPrefix : "") + (numbers ? kNumbers : "") +
         (dates ? kDates : "");
}

std::string Writer::table(const char* name, const std::vector<Column::Spelling>& spellings) const {
  std::string code = fmt::format("static const \1_spelling {}[] = {{", name);
  for (std::size_t k = 0; k < spellings.size(); ++k)
    code += fmt::format("{}\n        {{{}, {}}}",
                        k > 0 ? "," : "",
                        c_string(spellings[k].text),
                        spellings[k].feature);
  return code + "};\n";
}

std::string Writer::missing_table() const {
  std::vector<Column::Spelling> spellings;
  for (const std::string& each : encoding_.missing) spellings.push_back({each, 0});
  return table("missing_texts", spellings);
}

std::string Writer::present_number(const Column& column) const {
  std::string code;
  if (std::isfinite(column.min))
    code += fmt::format("    if (v < {0}) v = {0};\n", literal(column.min));
  if (std::isfinite(column.max))
    code += fmt::format("    if (v > {0}) v = {0};\n", literal(column.max));
  if (column.form == Column::Form::kBins) {
    for (std::size_t k = 0; k < column.edges.size(); ++k)
      code += fmt::format("    {}if (v < {}) x[{}] = 1.0;\n",
                          k > 0 ? "else " : "",
                          literal(column.edges[k]),
                          column.first + static_cast<std::int64_t>(k));
    return code + fmt::format("    else x[{}] = 1.0;\n", column.first + std::ssize(column.edges));
  }
  const std::string min = literal(column.min);
  const std::string max = literal(column.max);
  if (!column.log1p)
    return code + fmt::format("    x[{0}] = (double)(float)((v - ({1})) / (({2}) - ({1})));\n",
                              column.first,
                              min,
                              max);
  return code + fmt::format(
                    "    v = (log1p(v) - log1p({0})) / (log1p({1}) - log1p({0}));\n"
                    "    x[{2}] = (double)(float)(v < 0.0 ? 0.0 : v > 1.0 ? 1.0 : v);\n",
                    min,
                    max,
                    column.first);
}

std::string Writer::number(const Column& column) const {
  std::string code;
  std::string missing = "missing";
  if (column.date.empty()) {
    missing = "v != v";
    for (const double each : encoding_.missing_numbers())
      missing += fmt::format(" || v == {}", literal(each));
  } else {
    code += fmt::format("    const int missing = t == NULL || {};\n", kIsMissing) +
            fmt::format("    double v = missing ? 0.0 : \1_days(t, {});\n", c_string(column.date));
  }
  const std::string present =
      "    if (!(v >= -DBL_MAX && v <= DBL_MAX)) return 0;\n" + present_number(column);
  if (column.refuses_missing) return code + "    if (" + missing + ") return 0;\n" + present;
  code += "    if (" + missing + ") {\n";
  if (column.form == Column::Form::kNumber && column.when_missing != 0)
    code +=
        fmt::format("      x[{}] = {};\n", column.first, literal(in_single(column.when_missing)));
  for (const std::int64_t feature : {column.bin_of_missing, column.missing})
    if (feature != Encoding::kNone) code += fmt::format("      x[{}] = 1.0;\n", feature);
  return code + "    } else {\n" + deeper(present) + "    }\n";
}

std::string Writer::flag(const Column& column) const {
  return fmt::format(
      "    if (v == 1.0) {{\n      x[{0}] = 1.0;\n      if (++flags[{1}] > 1) return 0;\n"
      "    }} else if (v != 0.0) {{\n      return 0;\n    }}\n",
      column.first,
      column.group);
}

std::string Writer::text(const Column& column) const {
  std::string code = "    int at;\n    if (t == NULL) {\n" +
                     fmt::format("      at = {};\n    }} else {{\n", column.absent_text());
  code += column.prefix > 0
              ? fmt::format("      const size_t size = \1_prefix(t, {});\n", column.prefix)
              : "      const size_t size = strlen(t);\n";
  code += "      " + table("list", column.spellings) +
          fmt::format("      at = \1_find(t, size, {}, list, sizeof list / sizeof *list);\n",
                      column.ignore_case ? 1 : 0);
  code +=
      fmt::format("      if (at < 0 && {}) {{\n        at = {};\n      }} else if (at < 0) {{\n",
                  kIsMissing,
                  column.missing_text());
  if (!column.ranges.empty())
    code +=
        "        \1_decimal number;\n"
        "        const int is_number = \1_number(t, size, &number);\n";
  code += "        ";
  for (const auto& range : column.ranges)
    code +=
        fmt::format("if (is_number && {} &&\n            {})\n          at = {};\n        else ",
                    beyond(edge_below(range.low), '>'),
                    beyond(edge_above(range.high), '<'),
                    range.feature);
  code += fmt::format("at = {};\n      }}\n    }}\n", column.other);
  return code + "    if (at >= 0) x[at] = 1.0;\n";
}

std::string Writer::function() const {
  std::string code = fmt::format(
      "\n/* The features of a row, as Sotto makes them; 0 if the row does not fit the schema. */\n"
      "static inline int \1_encode(const \1_row *row, double x[{0}]) {{\n  int k;\n",
      encoding_.features);
  if (std::any_of(encoding_.columns.begin(), encoding_.columns.end(), takes_text))
    code += "  " + missing_table();
  if (encoding_.groups > 0) code += fmt::format("  int flags[{}] = {{0}};\n", encoding_.groups);
  code += fmt::format("  for (k = 0; k < {}; ++k) x[k] = 0.0;\n", encoding_.features);
  for (std::size_t k = 0; k < fields_.size(); ++k) {
    const Column& column = encoding_.columns[k];
    code += fmt::format("  {{ /* {} */\n    {} = row->{};\n",
                        c_comment(column.name),
                        takes_text(column)                   ? "const char *t"
                        : column.form == Column::Form::kFlag ? "const double v"
                                                             : "double v",
                        fields_[k]);
    code += column.is_text()                     ? text(column)
            : column.form == Column::Form::kFlag ? flag(column)
                                                 : number(column);
    code += "  }\n";
  }
  return code + "  return 1;\n}\n";
}

}  // namespace

std::string c_encoding(const Encoding& encoding, const std::string& name) {
  const Writer writer(encoding, name);
  return with_name(writer.structure(), "\1", name) + with_name(writer.helpers(), "NAME", name) +
         with_name(writer.function(), "\1", name);
}

}  // namespace sotto::deploy
