#include "sotto/data/io/row_reader.hpp"

#include <vector>

#include "sotto/core/parallel.hpp"

namespace sotto {
namespace {

/// Takes up to `lines` lines off the front of the chunks and returns how many there were.
std::int64_t drop_lines(std::vector<std::string_view>& chunks, std::int64_t lines) {
  std::int64_t dropped = 0;
  for (std::string_view& chunk : chunks) {
    for (; dropped < lines && !chunk.empty(); ++dropped) {
      const std::size_t end = chunk.find('\n');
      chunk.remove_prefix(end == chunk.npos ? chunk.size() : end + 1);
    }
  }
  return dropped;
}

}  // namespace

void read_batch(LineBatches& source,
                const RowFormat& format,
                std::int64_t& line,
                Refusals& refusals,
                TableBuilder& builder) {
  std::vector<std::string_view> chunks = source.chunks();
  if (line <= format.skip_lines) line += drop_lines(chunks, format.skip_lines - line + 1);
  const auto tasks = static_cast<std::int64_t>(chunks.size());
  std::vector<ChunkCount> counts(chunks.size());
  parallel_for(tasks, [&](std::int64_t task, int) {
    const auto k = static_cast<std::size_t>(task);
    counts[k] = format.count(chunks[k]);
  });

  std::vector<TableBuilder::Piece> pieces(chunks.size());
  std::vector<std::int64_t> first_lines(chunks.size());
  for (std::size_t k = 0; k < chunks.size(); ++k) {
    pieces[k] = {counts[k].rows, counts[k].entries};
    first_lines[k] = line;
    line += counts[k].lines;
  }
  auto writers = builder.extend(pieces);
  std::vector<Refusals> found(chunks.size(), refusals.next());
  parallel_for(tasks + 1, [&](std::int64_t task, int) {
    if (task == 0) return source.prefetch();
    const auto k = static_cast<std::size_t>(task - 1);
    format.parse(chunks[k], k, first_lines[k], writers[k], found[k]);
  });

  for (Refusals& each : found) refusals.append(std::move(each));
  builder.commit(writers);
}

tl::unexpected<Error> no_rows(const std::string& path) {
  return fail(ErrorKind::kBadData,
              path + ": the file has no rows. A data file needs at least one.");
}

Expected<void> read_rows(LineBatches& source,
                         const RowFormat& format,
                         const ReadOptions& options,
                         TableBuilder& builder) {
  Refusals refusals(source.path(), options.shown_refusals);
  std::int64_t line = format.first_line;
  for (;;) {
    SOTTO_ASSIGN(const bool more, source.advance());
    if (!more) break;
    read_batch(source, format, line, refusals, builder);
  }
  SOTTO_TRY(refusals.settle(options.misfits, options.purpose));
  if (!builder.labels().empty()) return {};
  if (options.misfits == Misfits::kRefuse) return no_rows(source.path());
  builder.add_null_unit(format.null_label);
  return {};
}

}  // namespace sotto
