// SQLite's catalogue is the text of CREATE TABLE.

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <span>

#include "sotto/data/spellings.hpp"
#include "sotto/data/sql/catalogue.hpp"
#include "sotto/data/sql/sql_words.hpp"

namespace sotto {
namespace {

using Declared = std::span<const SqlWord>;

bool is_one_of(const SqlWord& word, std::initializer_list<std::string_view> keywords) {
  return std::any_of(
      keywords.begin(), keywords.end(), [&](std::string_view each) { return word.is(each); });
}
bool is_bracket(const SqlWord& word) {
  return word.kind == SqlWord::Kind::kSign && word.text == "(";
}

/// The one column in brackets: `(name)`.
const SqlWord* only_name(Declared words) {
  const bool is_one = words.size() >= 3 && is_bracket(words[0]) && words[1].is_name() &&
                      words[2].kind == SqlWord::Kind::kSign && words[2].text == ")";
  return is_one ? &words[1] : nullptr;
}

class CreateTable {
 public:
  explicit CreateTable(std::string_view sql) : words_(sql_words(sql)) {}

  std::vector<ColumnFacts> read() {
    const auto open = std::find_if(words_.begin(), words_.end(), is_bracket);
    if (open == words_.end()) return {};
    const auto first = static_cast<std::size_t>(open - words_.begin());
    const std::size_t last = behind_bracket(words_, first) - 1;
    std::size_t begin = first + 1;
    for (std::size_t k = begin; k <= last; ++k) {
      if (k < last && is_bracket(words_[k])) k = behind_bracket(words_, k) - 1;
      const bool ends =
          k >= last || (words_[k].kind == SqlWord::Kind::kSign && words_[k].text == ",");
      if (!ends) continue;
      parts_.push_back(Declared(words_).subspan(begin, std::min(k, last) - begin));
      begin = k + 1;
    }
    for (const Declared part : parts_)
      if (!part.empty() && !is_of_table(part)) read_column(part);
    // All columns are known before any condition is read.
    for (const Declared part : parts_)
      if (!part.empty()) read_constraints(part);
    return std::move(columns_);
  }

 private:
  static bool is_of_table(Declared part) {
    return is_one_of(part.front(), {"CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"});
  }

  void read_column(Declared part) {
    ColumnFacts facts;
    facts.name = part.front().text;
    std::string type;
    for (std::size_t k = 1; k < part.size() && part[k].is_name() &&
                            !is_one_of(part[k],
                                       {"CONSTRAINT",
                                        "PRIMARY",
                                        "NOT",
                                        "NULL",
                                        "UNIQUE",
                                        "CHECK",
                                        "DEFAULT",
                                        "COLLATE",
                                        "REFERENCES",
                                        "GENERATED",
                                        "AS"});
         ++k)
      type += (type.empty() ? "" : " ") + part[k].text;
    facts.type = type_of_sql(type);
    columns_.push_back(std::move(facts));
  }

  ColumnFacts* called(const SqlWord* name) {
    const auto found = std::find_if(columns_.begin(), columns_.end(), [&](const auto& facts) {
      return name != nullptr && small_letters(facts.name) == small_letters(name->text);
    });
    return found == columns_.end() ? nullptr : &*found;
  }

  void refer(ColumnFacts* facts, Declared words) {
    if (facts == nullptr || words.empty()) return;
    facts->refers_to = words.front().text;
    if (const SqlWord* code = only_name(words.subspan(1)))
      facts->refers_to += "(" + code->text + ")";
  }

  void read_constraints(Declared part) {
    const bool of_table = is_of_table(part);
    ColumnFacts* own = of_table ? nullptr : called(&part.front());
    ColumnFacts* subject = own;
    for (std::size_t k = of_table ? 0 : 1; k < part.size(); ++k) {
      const Declared rest = part.subspan(k + 1);
      if (is_bracket(part[k])) {
        k = behind_bracket(part, k) - 1;
      } else if (part[k].is("CHECK") && !rest.empty() && is_bracket(rest[0])) {
        const std::size_t end = behind_bracket(rest, 0);
        read_condition(rest.subspan(0, end), columns_);
        k += end;
      } else if (part[k].is("NOT") && !rest.empty() && rest[0].is("NULL") && own) {
        own->nullable = false;
      } else if (is_one_of(part[k], {"PRIMARY", "FOREIGN"}) && !rest.empty() && rest[0].is("KEY")) {
        if (of_table) subject = called(only_name(rest.subspan(1)));
        if (part[k].is("PRIMARY") && subject) subject->key = true;
      } else if (part[k].is("REFERENCES")) {
        refer(subject, rest);
      }
    }
  }

  std::vector<SqlWord> words_;
  std::vector<Declared> parts_;
  std::vector<ColumnFacts> columns_;
};

}  // namespace

Expected<std::vector<ColumnFacts>> sqlite_catalogue(const AskCatalogue& ask,
                                                    const CatalogueTable& table) {
  SOTTO_ASSIGN(const CatalogueRows rows,
               ask("SELECT type, sql FROM sqlite_schema WHERE name = " + sql_text(table.name) +
                   " COLLATE NOCASE AND type IN ('table', 'view')"));
  if (rows.size() != 1 || rows[0].size() != 2 || !rows[0][1])
    return fail(ErrorKind::kUsage,
                fmt::format("the database has no table '{}'. `sqlite3 FILE .tables` lists them.",
                            table.name));
  if (rows[0][0] != "table")
    return fail(ErrorKind::kUsage,
                fmt::format("'{}' is a view, which declares no columns. Name the table that it is "
                            "made of.",
                            table.name));
  std::vector<ColumnFacts> columns = CreateTable(*rows[0][1]).read();
  if (columns.empty())
    return fail(ErrorKind::kBadData,
                fmt::format("the declaration of '{}' lists no columns.", table.name));
  SOTTO_TRY(read_public_codes(ask, table, columns));
  return columns;
}

}  // namespace sotto
