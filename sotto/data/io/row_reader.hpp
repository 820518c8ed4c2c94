#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "sotto/core/error.hpp"
#include "sotto/data/dataset.hpp"
#include "sotto/data/io/line_batches.hpp"
#include "sotto/data/refusals.hpp"
#include "sotto/data/table.hpp"

namespace sotto {

/// What a chunk of lines holds: `rows` exactly, `entries` at most.
struct ChunkCount {
  std::int64_t lines = 0;
  std::int64_t rows = 0;
  std::int64_t entries = 0;
};

/// A format of one row per line. Both functions are called for many chunks at once.
struct RowFormat {
  std::function<ChunkCount(std::string_view chunk)> count;
  /// Writes the rows of the batch's k-th chunk; those that don't fit as null rows, with an entry
  /// among the refusals.
  std::function<void(std::string_view chunk,
                     std::size_t k,
                     std::int64_t first_line,
                     TableBuilder::Writer& writer,
                     Refusals& refusals)>
      parse;
  std::int64_t first_line = 1;  ///< the number of the first line that is read
  std::int64_t skip_lines = 0;  ///< lines up to this number are not rows
  float null_label = 0;         ///< of a null row
};

/// Reads the current batch of `source`, whose first line has the number `line`, into `builder`, and
/// the next batch ahead. `line` is then that of the next batch.
void read_batch(LineBatches& source,
                const RowFormat& format,
                std::int64_t& line,
                Refusals& refusals,
                TableBuilder& builder);

/// kBadData: a file of this name has no row.
tl::unexpected<Error> no_rows(const std::string& path);

/// Reads every line from `source` (before a batch that begins with the line format.first_line) into
/// `builder`, on all threads; the
/// result does not depend on their number. Memory: the builder's plus two batches of text. Rows
/// that don't fit are met as options.misfits says; a file without rows is refused, or one null
/// unit.
Expected<void> read_rows(LineBatches& source,
                         const RowFormat& format,
                         const ReadOptions& options,
                         TableBuilder& builder);

/// A line that for_each_line gives for one that is too long: a row, whatever was in it.
inline bool is_too_long(std::string_view line) { return line == LineBatches::kTooLong; }
inline constexpr const char* kLineTooLong =
    "the line is longer than the limit. If it is meant to be, raise ‘max_line’";

/// A line without the byte order mark before its text. Files that were joined have marks on later
/// lines too, and a mark is dropped wherever it is: a line must not mean something else for being
/// the first, or a row would change when the one before it is left out. Alone on its line a mark is
/// a row that can't be read.
inline std::string_view without_mark(std::string_view line) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (!line.starts_with(kMark)) return line;
  const std::string_view text = line.substr(kMark.size());
  return text.find_first_not_of(" \t\r") == text.npos ? line : text;
}

/// Calls body(line, number) for every line of the chunk, without its line end. Whether LineBatches
/// kept a line that is too long depends on how the lines before it were cut, so kTooLong stands for
/// it in either case, before anybody looks for comments: what becomes of a row must not depend on
/// the rows around it.
template <class Body>
void for_each_line(std::string_view chunk,
                   std::int64_t first_line,
                   std::size_t longest,
                   Body&& body) {
  for (std::int64_t number = first_line; !chunk.empty(); ++number) {
    const std::size_t end = chunk.find('\n');
    std::string_view line = chunk.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    body(line.size() > longest ? LineBatches::kTooLong : without_mark(line), number);
    chunk.remove_prefix(end == std::string_view::npos ? chunk.size() : end + 1);
  }
}

}  // namespace sotto
