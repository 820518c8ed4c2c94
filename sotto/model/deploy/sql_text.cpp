#include "sotto/model/deploy/sql_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sotto/core/text.hpp"
#include "sotto/data/spellings.hpp"

namespace sotto::deploy {
namespace {

std::string enclosed(std::string_view text, char mark) {
  std::string result(1, mark);
  for (const char c : text) {
    if (c == mark) result += c;
    result += c;
  }
  return result + mark;
}

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
  return fmt::format("{}", fmt::join(parts, between));
}

}  // namespace

std::string sql_name(std::string_view name) { return enclosed(name, '"'); }
std::string sql_string(std::string_view text) { return enclosed(text, '\''); }
std::string sql_comment(std::string_view text) { return "-- " + on_one_line(text) + "\n"; }

std::string sql_list(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const std::string& text : texts) quoted.push_back(sql_string(text));
  return "(" + joined(quoted, ", ") + ")";
}

std::string sql_sum(const std::vector<std::string>& terms) {
  constexpr std::size_t kGroup = 50;
  if (terms.empty()) return "0.0";
  if (terms.size() <= kGroup) return joined(terms, "\n      + ");
  std::vector<std::string> groups;
  for (std::size_t k = 0; k < terms.size(); k += kGroup) {
    const auto begin = terms.begin() + static_cast<std::ptrdiff_t>(k);
    const auto end =
        terms.begin() + static_cast<std::ptrdiff_t>(std::min(k + kGroup, terms.size()));
    groups.push_back("(" + sql_sum({begin, end}) + ")");
  }
  return sql_sum(groups);
}

std::string sql_in_single(const std::string& name) {
  return fmt::format("{0} * 536870913.0 - ({0} * 536870913.0 - {0})", name);
}

std::string sql_sigmoid(const std::string& name) {
  return fmt::format(
      "1.0 / (1.0 + exp(CASE WHEN {0} > 700.0 THEN -700.0 WHEN {0} < -700.0 THEN 700.0 "
      "ELSE -{0} END))",
      name);
}

SqlSteps::SqlSteps(std::string from) : from_(std::move(from)) {
  // A step of the table's own name would be made of itself. Names are the same in both cases.
  while (small_letters(from_).find(prefix_) != std::string::npos) prefix_ += '_';
}

std::string SqlSteps::select() const {
  return "SELECT\n    " + joined(columns_, ",\n    ") + "\n  FROM " + from_;
}

void SqlSteps::end_step() {
  const std::string name = fmt::format("{}{}", prefix_, ++steps_);
  text_ +=
      fmt::format("{}{} AS MATERIALIZED (\n  {}\n)", steps_ == 1 ? "WITH " : ", ", name, select());
  from_ = name;
  widest_ = std::max(widest_, columns_.size());
  columns_.clear();
}

std::string SqlSteps::text() && { return text_ + "\n" + select() + ";\n"; }

}  // namespace sotto::deploy
