#pragma once

#include <string>
#include <vector>

#include "sotto/core/error.hpp"

namespace sotto {

/// The first line of a CSV file, and nothing behind it.
struct HeaderLine {
  char separator = ',';
  std::vector<std::string> names;
};

/// Reads no byte behind the first line's end; of a packed file, unpacks none. `path`: "-" is
/// standard input, also a pipe that gives no more than that line. `separator`: 0 takes the one of
/// comma, semicolon, tab and bar that there are most of. kBadData: a field is empty, a number or a
/// date, or two are the same, so that the line may well be a row; no text of it is told.
Expected<HeaderLine> read_header_line(const std::string& path, char separator = 0);

}  // namespace sotto
