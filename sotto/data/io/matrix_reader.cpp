#include "sotto/data/io/matrix_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sotto/core/parallel.hpp"

namespace sotto {
namespace {

constexpr std::int64_t kBlockBytes = std::int64_t{4} << 20;
constexpr std::int64_t kPieces = 16;

}  // namespace

tl::unexpected<Error> bad_file(const InputFile& file, const std::string& text) {
  return fail(ErrorKind::kBadData, fmt::format("{}: {}", file.path(), text));
}

Expected<std::string> read_exactly(InputFile& file, std::size_t bytes, const char* what) {
  std::string data(bytes, '\0');
  SOTTO_ASSIGN(const std::size_t got, file.read(data));
  if (got != bytes)
    return bad_file(
        file,
        fmt::format("the file ends too early (truncated) in its {}. Fetch or write it again.",
                    what));
  return data;
}

Expected<void> expect_end(InputFile& file) {
  char next = 0;
  SOTTO_ASSIGN(const std::size_t got, file.read({&next, 1}));
  if (got == 0) return {};
  return bad_file(file, "the file goes on after the last value that its header announces.");
}

Expected<void> read_matrix(
    InputFile& file,
    std::int64_t rows,
    std::int64_t row_bytes,
    std::int64_t row_entries,
    const std::function<void(
        std::int64_t row, const char* bytes, TableBuilder::Writer& writer, Refusals& refusals)>&
        decode,
    TableBuilder& builder,
    Refusals& refusals) {
  const auto cut_short = [&] {
    return bad_file(file,
                    fmt::format("the file ends too early (truncated): its header announces {} "
                                "rows. Fetch or write it again.",
                                rows));
  };
  // Before memory is claimed for a damaged header's sake: gzip never shrinks by more than 1032.
  const double most = static_cast<double>(file.file_size()) * (file.compressed() ? 1040 : 1);
  if (static_cast<double>(rows) * static_cast<double>(row_bytes) > most) return cut_short();
  const std::int64_t block_rows = std::max<std::int64_t>(1, kBlockBytes / row_bytes);
  std::vector<char> block(static_cast<std::size_t>(std::min(rows, block_rows) * row_bytes));
  for (std::int64_t first = 0; first < rows; first += block_rows) {
    const std::int64_t count = std::min(block_rows, rows - first);
    const auto bytes = static_cast<std::size_t>(count * row_bytes);
    SOTTO_ASSIGN(const std::size_t got, file.read(std::span(block).first(bytes)));
    if (got != bytes) return cut_short();
    const auto begin = [count](std::int64_t piece) { return count * piece / kPieces; };
    std::vector<TableBuilder::Piece> pieces;
    for (std::int64_t k = 0; k < kPieces; ++k) {
      const std::int64_t piece_rows = begin(k + 1) - begin(k);
      pieces.push_back({piece_rows, piece_rows * row_entries});
    }
    auto writers = builder.extend(pieces);
    std::vector<Refusals> found(kPieces, refusals.next());
    parallel_for(kPieces, [&](std::int64_t piece, int) {
      const auto k = static_cast<std::size_t>(piece);
      for (std::int64_t i = begin(piece); i < begin(piece + 1); ++i)
        decode(first + i, block.data() + i * row_bytes, writers[k], found[k]);
    });
    for (Refusals& each : found) refusals.append(std::move(each));
    builder.commit(writers);
  }
  return expect_end(file);
}

}  // namespace sotto
