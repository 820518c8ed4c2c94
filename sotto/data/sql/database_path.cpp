#include "sotto/data/sql/database_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

namespace sotto {
namespace {

constexpr std::string_view kSqliteScheme = "sqlite:";
constexpr std::array<std::string_view, 2> kPostgresSchemes = {"postgresql://", "postgres://"};

bool is_postgres(std::string_view path) {
  return std::any_of(kPostgresSchemes.begin(), kPostgresSchemes.end(), [&](std::string_view each) {
    return path.starts_with(each);
  });
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// SELECT, WITH, VALUES or TABLE, and then a blank or a parenthesis. Whatever else is there is a
/// name: a table called `select` is meant by `#select`.
bool is_query(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t\r\n("), text.size());
  const std::string word = lower(text.substr(begin, 7));
  for (const std::string_view each : {"select", "with", "values", "table"})
    if (word.starts_with(each) && begin + each.size() < text.size() &&
        std::string_view(" \t\r\n(").find(text[begin + each.size()]) != std::string_view::npos)
      return true;
  return false;
}

/// A part of a table's name, taken off the front; none: its quotes do not end, or it is empty.
std::optional<std::string> take_name(std::string_view& text) {
  std::string name;
  if (!text.starts_with('"')) {
    name = text.substr(0, text.find('.'));
    text.remove_prefix(name.size());
  } else {
    text.remove_prefix(1);
    for (;;) {
      const std::size_t quote = text.find('"');
      if (quote == text.npos) return std::nullopt;
      name += text.substr(0, quote);
      text.remove_prefix(quote + 1);
      if (!text.starts_with('"')) break;
      name += '"';
      text.remove_prefix(1);
    }
  }
  if (name.empty()) return std::nullopt;
  return name;
}

Expected<std::vector<std::string>> names_in(std::string_view text, const std::string& shown) {
  std::vector<std::string> names;
  std::string_view rest = text;
  for (;;) {
    auto name = take_name(rest);
    if (!name || (!rest.empty() && rest.front() != '.')) break;
    names.push_back(*std::move(name));
    if (rest.empty() && names.size() <= 2) return names;
    if (rest.empty()) break;
    rest.remove_prefix(1);
  }
  return fail(ErrorKind::kUsage,
              fmt::format("{}: what stands behind the # is no table's name. It is NAME or "
                          "SCHEMA.NAME; a name with dots or quotes stands in double quotes, in "
                          "which a quote is written twice: #\"a.b\".",
                          shown));
}

/// `user:…@` before the host, or a parameter of that name: however libpq would cut the text, none
/// of it is shown.
bool has_password(std::string_view uri) {
  const std::string_view rest = uri.substr(uri.find("://") + 3);
  // Neither a / nor a # may stand in a password, but who types one does not know that.
  for (const char end : {'/', '#'}) {
    const std::string_view part = rest.substr(0, rest.find(end));
    const std::size_t at = part.find('@');
    if (at != part.npos && part.substr(0, at).find(':') != part.npos) return true;
  }
  const std::string parameters =
      lower(rest.substr(std::min(rest.find_first_of("?&"), rest.size())));
  for (const std::string_view each : {"?password=", "&password=", "?sslpassword=", "&sslpassword="})
    if (parameters.find(each) != parameters.npos) return true;
  return false;
}

tl::unexpected<Error> no_table(const std::string& shown, const char* forms) {
  return fail(
      ErrorKind::kUsage,
      fmt::format(
          "{}: it does not say which rows. Name a table or a query behind it: {}.", shown, forms));
}

}  // namespace

bool is_database(const std::string& path) {
  return path.starts_with(kSqliteScheme) || is_postgres(path);
}

std::string quoted_identifier(const std::string& name) {
  std::string result(1, '"');
  for (const char c : name) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

std::string DatabasePath::quoted_table() const {
  std::string result;
  for (const std::string& name : table)
    result += (result.empty() ? "" : ".") + quoted_identifier(name);
  return result;
}

std::string DatabasePath::select() const {
  return table.empty() ? query : "SELECT * FROM " + quoted_table();
}

bool DatabasePath::same_rows(const DatabasePath& other) const {
  if (kind != other.kind || query != other.query) return false;
  if (!is_file()) return place == other.place && table == other.table;
  std::error_code error;
  if (place != other.place && !std::filesystem::equivalent(place, other.place, error)) return false;
  // SQLite's names have no case; `main` is the file itself.
  const auto name = [](const std::vector<std::string>& names) {
    return names.empty() ? std::string() : lower(names.back());
  };
  return name(table) == name(other.table);
}

Expected<DatabasePath> parse_database_path(const std::string& path) {
  DatabasePath result;
  result.shown = path;
  if (path.starts_with(kSqliteScheme)) {
    constexpr const char* kForms = "sqlite:FILE#TABLE or \"sqlite:FILE?SELECT …\"";
    const std::string rest = path.substr(kSqliteScheme.size());
    const std::size_t mark = rest.find_first_of("#?");
    result.place = rest.substr(0, mark);
    if (result.place.empty())
      return fail(ErrorKind::kUsage,
                  fmt::format("{}: the database's file is missing. Write {}.", path, kForms));
    if (mark == rest.npos || mark + 1 == rest.size()) return no_table(path, kForms);
    const std::string target = rest.substr(mark + 1);
    if (is_query(target)) {
      result.query = target;
      return result;
    }
    if (rest[mark] == '?')
      return fail(ErrorKind::kUsage,
                  fmt::format("{}: a query stands behind the ?, which begins with SELECT, WITH or "
                              "VALUES; a table is named behind a #: sqlite:FILE#TABLE. Rename a "
                              "file that has one of the two marks in its name.",
                              path));
    SOTTO_ASSIGN(result.table, names_in(target, path));
    if (result.table.size() == 2 && lower(result.table.front()) != "main")
      return fail(
          ErrorKind::kUsage,
          fmt::format("{}: a SQLite file has no schemas but main. A table's name that has a "
                      "dot stands in double quotes: #\"a.b\".",
                      path));
    return result;
  }
  result.kind = DatabasePath::Kind::kPostgres;
  constexpr const char* kForms =
      "postgresql://USER@HOST/DATABASE#TABLE or \"postgresql://USER@HOST/DATABASE#SELECT …\"";
  const std::size_t mark = path.find('#');
  // A query may hold what looks like a password, and a password a #: both are looked for.
  const bool asks = mark != path.npos && is_query(std::string_view(path).substr(mark + 1));
  if (has_password(asks ? std::string_view(path).substr(0, mark) : std::string_view(path)))
    return fail(ErrorKind::kUsage,
                "the database's path has a password in it, which others see in the list of "
                "processes and which would be written into records. Leave it out: libpq takes it "
                "from ~/.pgpass, PGPASSFILE, PGPASSWORD or a service file.");
  result.place = path.substr(0, mark);
  if (mark == path.npos || mark + 1 == path.size()) return no_table(path, kForms);
  const std::string target = path.substr(mark + 1);
  if (asks) {
    result.query = target;
    return result;
  }
  SOTTO_ASSIGN(result.table, names_in(target, path));
  return result;
}

}  // namespace sotto
