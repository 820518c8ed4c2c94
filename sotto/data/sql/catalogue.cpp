#include "sotto/data/sql/catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "sotto/core/nearest.hpp"
#include "sotto/data/spellings.hpp"

namespace sotto {
namespace {

constexpr std::size_t kMostCodes = 10'000;

std::string in_marks(std::string_view text, char mark) {
  std::string result(1, mark);
  for (const char c : text) result.append(c == mark ? 2 : 1, c);
  return result + mark;
}

/// The parts of `schema.table(code)`; no code: the table's key, which nobody named.
struct Reference {
  std::string table;
  std::string code;
};
Reference reference_in(const std::string& refers_to) {
  const std::size_t bracket = refers_to.find('(');
  if (bracket == refers_to.npos) return {refers_to, ""};
  return {refers_to.substr(0, bracket),
          refers_to.substr(bracket + 1, refers_to.size() - bracket - 2)};
}

}  // namespace

std::string sql_identifier(std::string_view name) { return in_marks(name, '"'); }
std::string sql_text(std::string_view text) { return in_marks(text, '\''); }

ColumnFacts::Type type_of_sql(std::string_view name) {
  using Type = ColumnFacts::Type;
  const std::string small = small_letters(name);
  const auto has = [&](std::initializer_list<std::string_view> parts) {
    return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
      return small.find(part) != small.npos;
    });
  };
  if (has({"[]", "interval", "point", "range"})) return Type::kUnknown;
  if (has({"bool"})) return Type::kBoolean;
  if (has({"timestamp", "datetime"})) return Type::kTime;
  if (small == "date") return Type::kDate;
  if (has({"char", "text", "clob", "uuid"})) return Type::kText;
  if (has({"int", "serial"})) return Type::kInteger;
  if (has({"real", "floa", "doub", "numeric", "decimal"})) return Type::kReal;
  return Type::kUnknown;
}

Expected<void> read_public_codes(const AskCatalogue& ask,
                                 const CatalogueTable& table,
                                 std::vector<ColumnFacts>& columns) {
  std::vector<std::string> referred;
  for (const ColumnFacts& facts : columns)
    if (!facts.refers_to.empty()) referred.push_back(reference_in(facts.refers_to).table);
  for (const std::string& name : table.public_tables)
    if (std::find(referred.begin(), referred.end(), name) == referred.end())
      return fail(ErrorKind::kUsage,
                  fmt::format("‘public_table’ names '{}', which no foreign key of '{}' leads to.{}",
                              name,
                              table.name,
                              did_you_mean(name, referred)));
  for (ColumnFacts& facts : columns) {
    const Reference to = reference_in(facts.refers_to);
    const auto& names = table.public_tables;
    if (to.code.empty() || std::find(names.begin(), names.end(), to.table) == names.end()) continue;
    std::string from = sql_identifier(to.table);
    if (const std::size_t dot = to.table.find('.'); dot != to.table.npos)
      from =
          sql_identifier(to.table.substr(0, dot)) + "." + sql_identifier(to.table.substr(dot + 1));
    SOTTO_ASSIGN(const CatalogueRows rows,
                 ask(fmt::format("SELECT DISTINCT {0} FROM {1} WHERE {0} IS NOT NULL ORDER BY {0} "
                                 "LIMIT {2}",
                                 sql_identifier(to.code),
                                 from,
                                 kMostCodes + 1)));
    if (rows.size() > kMostCodes)
      return fail(
          ErrorKind::kUsage,
          fmt::format("'{}' has more than {} codes, each of which would be a feature. Leave "
                      "out ‘public_table {}’, and declare prefix and ranges.",
                      to.table,
                      kMostCodes,
                      to.table));
    facts.values.clear();
    for (const auto& row : rows)
      if (!row.empty() && row.front()) facts.values.push_back(*row.front());
  }
  return {};
}

}  // namespace sotto
