#include "sotto/data/sql/database_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
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

/// As libpq reads the name of a URI's parameter: %XX is a character, blanks around it are none.
std::string decoded_name(std::string_view text) {
  std::string name;
  for (std::size_t k = 0; k < text.size(); ++k) {
    unsigned char c = static_cast<unsigned char>(text[k]);
    if (c == '%' && k + 2 < text.size()) {
      unsigned char hex = 0;
      const char* const end = text.data() + k + 3;
      if (std::from_chars(text.data() + k + 1, end, hex, 16).ptr == end) {
        c = hex;
        k += 2;
      }
    }
    if (c > ' ') name += static_cast<char>(std::tolower(c));
  }
  return name;
}

/// `?NAME=…&NAME=…`
bool has_secret_parameter(std::string_view parameters) {
  while (!parameters.empty()) {
    parameters.remove_prefix(1);
    const std::string_view one = parameters.substr(0, parameters.find_first_of("?&"));
    if (one.find('=') != one.npos && is_secret_parameter(one.substr(0, one.find('=')))) return true;
    parameters.remove_prefix(one.size());
  }
  return false;
}

/// Whether a colon is followed by what is no port: then it is, or was meant for, a password.
bool has_other_than_ports(std::string_view hosts) {
  bool in_brackets = false;  // [::1]
  bool in_port = false;
  for (const char c : hosts) {
    if (c == '[' || c == ']') in_brackets = c == '[';
    if (c == ',') in_port = false;
    if (in_port && (c < '0' || c > '9')) return true;
    if (c == ':' && !in_brackets) in_port = true;
  }
  return false;
}

bool has_user_and_colon(std::string_view text) {
  const std::size_t at = text.find('@');
  return at != text.npos && text.substr(0, at).find(':') != text.npos;
}

/// `user:…@` before the host, or a parameter of that name: however libpq would cut the text, none
/// of it is shown. A query may hold what looks like a password, and a password what looks like the
/// beginning of a query.
bool has_password(std::string_view path, bool asks) {
  const std::string_view rest = path.substr(path.find("://") + 3);
  const std::string_view uri = asks ? rest.substr(0, rest.find('#')) : rest;
  const std::string_view hosts = uri.substr(0, uri.find_first_of("/?#"));
  const bool ends = hosts.size() < uri.size() && uri[hosts.size()] == '/';
  // Neither a / nor a # may stand in a password, but who types one does not know that.
  const bool goes_on = !ends && (!asks || hosts.find(':') != hosts.npos);
  if (has_user_and_colon(goes_on ? rest : hosts)) return true;
  if (hosts.find('@') == hosts.npos && has_other_than_ports(hosts)) return true;
  const std::size_t parameters = std::min(uri.find_first_of("?&"), uri.size());
  // A parameter's value may have an @.
  if (has_user_and_colon(uri.substr(0, std::min(uri.find('#'), parameters)))) return true;
  return has_secret_parameter(uri.substr(parameters));
}

tl::unexpected<Error> no_table(const std::string& shown, const char* forms) {
  return fail(
      ErrorKind::kUsage,
      fmt::format(
          "{}: it does not say which rows. Name a table or a query behind it: {}.", shown, forms));
}

}  // namespace

bool is_secret_parameter(std::string_view name) {
  const std::string decoded = decoded_name(name);
  if (decoded == "passfile") return false;
  // Also what libpq would refuse, and show: passwd, pwd.
  for (const char* each : {"pass", "pwd", "secret", "scram_client_key", "scram_server_key"})
    if (decoded.find(each) != decoded.npos) return true;
  return false;
}

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
  const bool asks = mark != path.npos && is_query(std::string_view(path).substr(mark + 1));
  if (has_password(path, asks))
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
  for (const std::string& name : result.table)
    if (name.size() > kLongestPostgresName)
      return fail(ErrorKind::kUsage,
                  fmt::format("{}: '{}' is longer than {} bytes, which is all that PostgreSQL "
                              "keeps of a name: it would find another table.",
                              path,
                              name,
                              kLongestPostgresName));
  return result;
}

}  // namespace sotto
