#include "sotto/task/scoring.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "sotto/core/nearest.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/core/stop.hpp"
#include "sotto/task/best_per_value.hpp"
#include "sotto/task/metrics_sum.hpp"
#include "sotto/task/score_columns.hpp"

namespace sotto {
namespace {

constexpr std::int64_t kPieceRows = 2048;
constexpr std::size_t kWriteBytes = std::size_t{1} << 20;

/// The lines of some rows of a block.
struct Piece {
  struct Ranked {
    double key = 0;
    std::int64_t row = 0;
    std::size_t end = 0;  ///< of its line in `text`
  };
  std::string text;
  std::vector<Ranked> ranked;  ///< only if lines are ranked
  std::int64_t flagged = 0;
  std::optional<std::int64_t> not_finite;  ///< the first row
};

/// Turns blocks of rows into lines of the output.
class LineWriter {
 public:
  LineWriter(const ScoreColumns& columns,
             const ScoreOptions& options,
             std::int64_t width,
             std::optional<std::size_t> one_per,
             OutputFile& output)
      : columns_(columns),
        options_(options),
        width_(static_cast<std::size_t>(width)),
        output_(output),
        ranks_(options.sort || options.top > 0 || options.flag_share),
        ranked_(options.sort_memory, options.top),
        one_per_(one_per),
        best_(options.top) {}

  Expected<void> add(const RowBlock& block, std::span<const double> outputs);
  /// What only the last row decides.
  Expected<void> finish();
  std::int64_t count() const { return rows_; }
  std::int64_t flagged() const { return flagged_; }

 private:
  Piece make_piece(const RowBlock& block,
                   std::span<const double> outputs,
                   std::int64_t begin,
                   std::int64_t end) const;
  /// A line with a lower key is not wanted.
  double least() const { return one_per_ ? best_.least() : ranked_.least(); }
  Expected<void> rank(const Piece::Ranked& line, std::string_view text);
  Expected<void> put(std::string_view text);
  Expected<void> put_in_file_order(SortedLines lines);

  const ScoreColumns& columns_;
  const ScoreOptions& options_;
  std::size_t width_;
  OutputFile& output_;
  bool ranks_;  ///< lines are held back until all are there
  SortedLines ranked_;
  std::optional<std::size_t> one_per_;  ///< the kept column of which a value has one line
  BestPerValue best_;                   ///< in the place of ranked_, where there is one
  std::string buffer_;
  std::int64_t rows_ = 0;
  std::int64_t flagged_ = 0;
};

Piece LineWriter::make_piece(const RowBlock& block,
                             std::span<const double> outputs,
                             std::int64_t begin,
                             std::int64_t end) const {
  Piece piece;
  RowScore score;
  for (std::int64_t i = begin; i < end; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const std::int64_t row = rows_ + i + 1;
    const auto of_row = outputs.subspan(k * width_, width_);
    if (!std::all_of(of_row.begin(), of_row.end(), [](double each) { return std::isfinite(each); }))
      piece.not_finite = piece.not_finite.value_or(row);
    columns_.measure(of_row, score);
    const bool flagged = options_.threshold && score.shown >= *options_.threshold;
    if (flagged) ++piece.flagged;
    if (ranks_ && score.key < least()) continue;
    if (block.kept_ends.empty())
      fmt::format_to(std::back_inserter(piece.text), FMT_COMPILE("{},"), row);
    else
      piece.text += block.kept(k);
    columns_.append(piece.text, score);
    if (options_.threshold) piece.text += flagged ? ",1" : ",0";
    if (ranks_)
      piece.ranked.push_back({score.key, row, piece.text.size()});
    else
      piece.text += '\n';
  }
  return piece;
}

Expected<void> LineWriter::add(const RowBlock& block, std::span<const double> outputs) {
  const std::int64_t rows = block.table.rows();  // public rows: to be scored
  std::vector<Piece> pieces(static_cast<std::size_t>((rows + kPieceRows - 1) / kPieceRows));
  parallel_for(std::ssize(pieces), [&](std::int64_t k, int) {
    pieces[static_cast<std::size_t>(k)] =
        make_piece(block, outputs, k * kPieceRows, std::min(rows, (k + 1) * kPieceRows));
  });
  for (const Piece& piece : pieces) {
    if (piece.not_finite)
      return fail(ErrorKind::kBadData,
                  fmt::format("the model's output for row {} is not a finite number: its weights "
                              "are too large. Train again.",
                              *piece.not_finite));
    flagged_ += piece.flagged;
    if (!ranks_) output_.write(piece.text);
    std::size_t begin = 0;
    for (const Piece::Ranked& line : piece.ranked) {
      SOTTO_TRY(rank(line, std::string_view(piece.text).substr(begin, line.end - begin)));
      begin = line.end;
    }
  }
  rows_ += rows;
  return output_.status();
}

Expected<void> LineWriter::rank(const Piece::Ranked& line, std::string_view text) {
  if (!one_per_) return ranked_.add(line.key, line.row, text);
  const std::string_view value = field_at(text, *one_per_);
  // Who has no value is nobody's: NULL, and an empty text, which is in quotes if both can be.
  const bool is_nobody = value.empty() || value == "\"\"";
  best_.add(
      is_nobody ? fmt::format(",{}", line.row) : std::string(value), line.key, line.row, text);
  return {};
}

Expected<void> LineWriter::put(std::string_view text) {
  buffer_ += text;
  buffer_ += '\n';
  if (buffer_.size() < kWriteBytes) return {};
  output_.write(buffer_);
  buffer_.clear();
  return output_.status();
}

/// The lines, which already say whether they are flagged.
Expected<void> LineWriter::put_in_file_order(SortedLines lines) {
  return std::move(lines).for_each([&](std::int64_t, std::string_view text) { return put(text); });
}

Expected<void> LineWriter::finish() {
  if (!ranks_) return {};
  if (one_per_) {
    SOTTO_TRY(best_.for_each([&](std::int64_t, std::string_view text) { return put(text); }));
    output_.write(buffer_);
    return output_.status();
  }
  std::int64_t flagged = 0;
  if (options_.flag_share) {
    // Rounding must not flag one row more than 5 % of 100 are.
    const double share = *options_.flag_share * static_cast<double>(rows_);
    flagged_ = static_cast<std::int64_t>(std::ceil(share * (1 - 1e-12)));
    flagged = flagged_;
  }
  const bool file_order = !options_.sort && options_.top == 0;
  SortedLines again(options_.sort_memory);
  std::int64_t rank = 0;
  std::string line;
  SOTTO_TRY(
      std::move(ranked_).for_each([&](std::int64_t row, std::string_view text) -> Expected<void> {
        line = text;
        if (options_.flag_share) line += rank++ < flagged ? ",1" : ",0";
        return file_order ? again.add(-static_cast<double>(row), row, line) : put(line);
      }));
  if (file_order) SOTTO_TRY(put_in_file_order(std::move(again)));
  output_.write(buffer_);
  buffer_.clear();
  return output_.status();
}

/// The place of ‘one_per’ among the kept columns.
Expected<std::optional<std::size_t>> place_of_one_per(const ScoreOptions& options,
                                                      const std::vector<std::string>& kept) {
  if (options.one_per.empty()) return std::optional<std::size_t>();
  if (options.top < 1 || options.flag_share)
    return fail(ErrorKind::kUsage,
                "‘one_per’ goes with ‘top N’, the N highest of different values, and without "
                "‘flag_share’, which counts rows.");
  const auto place = std::find(kept.begin(), kept.end(), options.one_per);
  if (place == kept.end())
    return fail(ErrorKind::kUsage,
                fmt::format("‘one_per’ names '{}', which is not among the kept columns.{} Add it "
                            "to ‘keep’.",
                            options.one_per,
                            did_you_mean(options.one_per, kept)));
  return std::optional(static_cast<std::size_t>(place - kept.begin()));
}

std::string why_no_metrics(std::int64_t without_label, std::int64_t rows) {
  if (without_label == rows) return "the rows have no labels.";
  return fmt::format("{} of {} rows have no label.", without_label, rows);
}

}  // namespace

Expected<Scored> score_rows(const Model& model,
                            const Family& family,
                            RowBlocks& rows,
                            const ScoreOptions& options,
                            OutputFile& output) {
  SOTTO_ASSIGN(const ScoreColumns columns, ScoreColumns::make(model, family, options));
  SOTTO_ASSIGN(const auto written, columns.all(rows.kept()));
  SOTTO_ASSIGN(const auto one_per, place_of_one_per(options, rows.kept()));
  output.begin(written);
  SOTTO_TRY(output.status());
  LineWriter lines(columns, options, family.width(), one_per, output);
  MetricsSum metrics(family.width());
  const auto known = family.check_evaluation();
  std::int64_t without_label = 0;
  for (RowBlock block;;) {
    SOTTO_ASSIGN(const bool more, rows.next(block));
    if (!more) break;
    if (stop_requested()) return stopped_early();
    SOTTO_ASSIGN(const auto outputs, family.outputs(block.table, model.w));
    SOTTO_TRY(lines.add(block, outputs));
    without_label += block.without_label;
    if (!known || without_label > 0) continue;
    SOTTO_ASSIGN(const Metrics here, family.evaluate(block.table, model.w, outputs));
    metrics.add(here, outputs, block.table.labels());
  }
  SOTTO_TRY(lines.finish());
  Scored scored;
  scored.rows = lines.count();
  if (options.threshold || options.flag_share) scored.flagged = lines.flagged();
  scored.class_names = columns.class_names();
  if (!known)
    scored.no_metrics = known.error().message;
  else if (without_label > 0)
    scored.no_metrics = why_no_metrics(without_label, scored.rows);
  else
    scored.metrics = metrics.total();
  return scored;
}

}  // namespace sotto
