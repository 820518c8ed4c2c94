#include "sotto/data/header_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>

#include "sotto/core/text.hpp"
#include "sotto/data/io/csv_splitter.hpp"
#include "sotto/data/io/input_file.hpp"
#include "sotto/data/io/numbers.hpp"

namespace sotto {
namespace {

constexpr std::size_t kMostHeaderBytes = std::size_t{16} << 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Byte by byte: what follows is somebody's.
Expected<std::string> first_line(const std::string& path) {
  SOTTO_ASSIGN(InputFile file,
               path == "-" ? InputFile::standard_input() : InputFile::open(path, true));
  std::string line;
  for (char next = 0;; line += next) {
    SOTTO_ASSIGN(const std::size_t got, file.read({&next, 1}));
    if (got == 0 || next == '\n') break;
    if (line.size() >= kMostHeaderBytes)
      return fail(ErrorKind::kBadData,
                  fmt::format("{}: the first line has more than {} bytes, so that it is no header.",
                              file.path(),
                              kMostHeaderBytes));
  }
  if (line.ends_with('\r')) line.pop_back();
  if (line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
  return line;
}

char likely_separator(const std::string& line) {
  char best = ',';
  std::ptrdiff_t most = 0;
  for (const char c : {',', ';', '\t', '|'})
    if (const auto count = std::count(line.begin(), line.end(), c); count > most) {
      best = c;
      most = count;
    }
  return best;
}

/// Also a hexadecimal one.
bool is_a_number(const std::string& field) {
  double value = 0;
  const char* end = field.data() + field.size();
  if (parse_number(field.data(), end, value) == end) return true;
  const std::size_t sign = field.starts_with('-') || field.starts_with('+') ? 1 : 0;
  return field.size() > sign + 2 && field[sign] == '0' &&
         (field[sign + 1] == 'x' || field[sign + 1] == 'X') &&
         field.find_first_not_of("0123456789abcdefABCDEF", sign + 2) == field.npos;
}

/// Three numbers with the same mark between them, the year first or last, and perhaps a time.
bool is_a_date(const std::string& field) {
  std::size_t at = 0;
  std::array<std::size_t, 3> digits{};
  char mark = 0;
  for (std::size_t part = 0; part < digits.size(); ++part) {
    if (part > 0) {
      if (at == field.size() || std::string_view("-/.").find(field[at]) == std::string::npos)
        return false;
      if (part > 1 && field[at] != mark) return false;
      mark = field[at++];
    }
    for (; at < field.size() && is_digit(field[at]); ++at) ++digits[part];
  }
  const auto is_short = [](std::size_t count) { return count == 1 || count == 2; };
  const bool is_day =
      is_short(digits[1]) && ((digits[0] == 4 && is_short(digits[2])) ||
                              (is_short(digits[0]) && (digits[2] == 4 || digits[2] == 2)));
  return is_day && (at == field.size() ||
                    (std::string_view(" T").find(field[at]) != std::string::npos &&
                     field.find_first_not_of("0123456789:.,+-Z", at + 1) == field.npos));
}

}  // namespace

Expected<HeaderLine> read_header_line(const std::string& path, char separator) {
  SOTTO_ASSIGN(const std::string line, first_line(path));
  const auto bad = [&](const std::string& why) {
    return fail(ErrorKind::kBadData,
                fmt::format("{}:1: {}, so that the first line may be a row and not the names of "
                            "columns. Nothing of a row goes into a schema: give a file whose first "
                            "line has the names.",
                            path == "-" ? "standard input" : path,
                            why));
  };
  HeaderLine header;
  header.separator = separator == 0 ? likely_separator(line) : separator;
  constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
  CsvSplitter splitter(header.separator, kAny, kAny);
  if (!splitter.split(line)) return bad("a quote does not end");
  header.names.assign(splitter.fields().begin(), splitter.fields().end());
  std::set<std::string> seen;
  for (std::size_t k = 0; k < header.names.size(); ++k) {
    const std::string& name = header.names[k];
    const char* fault = name.empty()        ? "is empty"
                        : is_a_number(name) ? "is a number"
                        : is_a_date(name)   ? "is a date"
                        : on_one_line(name) != name
                            ? "has characters that nobody sees, or is no UTF-8"
                        : !seen.insert(name).second ? "is there twice"
                                                    : nullptr;
    if (fault) return bad(fmt::format("field {} {}", k + 1, fault));
  }
  return header;
}

}  // namespace sotto
