#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "sotto/core/error.hpp"
#include "sotto/data/io/line_batches.hpp"
#include "sotto/data/io/line_errors.hpp"
#include "sotto/data/table.hpp"

namespace sotto {

/// What a chunk of lines holds: `rows` exactly, `entries` at most.
struct ChunkCount {
  std::int64_t lines = 0;
  std::int64_t rows = 0;
  std::int64_t entries = 0;
};

/// A format of one row a line. Both functions are called for many chunks at once.
struct RowFormat {
  std::function<ChunkCount(std::string_view chunk)> count;
  /// Writes the chunk's rows, or reports its bad lines.
  std::function<void(std::string_view chunk,
                     std::int64_t first_line,
                     TableBuilder::Writer& writer,
                     LineErrors& errors)>
      parse;
  std::int64_t skip_lines = 0;  ///< leading lines that are not rows
};

/// Reads every line from `source` (before its first batch) into `builder`, on all threads; the
/// result does not depend on their number. Memory: the builder's plus two batches of text.
Expected<void> read_rows(LineBatches& source, const RowFormat& format, TableBuilder& builder);

/// Calls body(line, number) for every line of the chunk, without its line end.
template <class Body>
void for_each_line(std::string_view chunk, std::int64_t first_line, Body&& body) {
  for (std::int64_t number = first_line; !chunk.empty(); ++number) {
    const std::size_t end = chunk.find('\n');
    const std::string_view line = chunk.substr(0, end);
    body(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line, number);
    chunk.remove_prefix(end == std::string_view::npos ? chunk.size() : end + 1);
  }
}

}  // namespace sotto
