#include "sotto/data/header_line.hpp"

#include <fmt/format.h>

#include <algorithm>
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

bool is_a_number(const std::string& field) {
  double value = 0;
  const char* end = field.data() + field.size();
  return parse_number(field.data(), end, value) == end;
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
                        : on_one_line(name) != name
                            ? "has characters that nobody sees, or is no UTF-8"
                        : !seen.insert(name).second ? "is there twice"
                                                    : nullptr;
    if (fault) return bad(fmt::format("field {} {}", k + 1, fault));
  }
  return header;
}

}  // namespace sotto
