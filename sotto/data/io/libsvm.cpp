#include "sotto/data/io/libsvm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "sotto/core/parallel.hpp"
#include "sotto/data/io/numbers.hpp"
#include "sotto/data/io/row_reader.hpp"
#include "sotto/data/io/row_source.hpp"

namespace sotto {
namespace {

constexpr std::int64_t kMaxDim = std::numeric_limits<std::int32_t>::max() - 2;

std::string_view without_comment(std::string_view line) {
  return line.substr(0, std::min(line.find('#'), line.size()));
}

bool is_row(std::string_view line) { return line.find_first_not_of(" \t\r") != line.npos; }

/// The index before the line's last colon: its largest, if the line is sound.
std::int64_t last_index(std::string_view line) {
  const std::size_t colon = line.rfind(':');
  if (colon == line.npos) return 0;
  std::int64_t index = 0;
  std::int64_t power = 1;
  for (std::size_t i = colon; i > 0 && is_digit(line[i - 1]) && power <= kMaxDim; --i, power *= 10)
    index += power * (line[i - 1] - '0');
  return index;
}

struct Survey {
  ChunkCount count;
  std::int64_t largest_index = 0;

  void add(const Survey& other) {
    count.lines += other.count.lines;
    count.rows += other.count.rows;
    count.entries += other.count.entries;
    largest_index = std::max(largest_index, other.largest_index);
  }
};

/// A sound row has at most `dim` entries: no other decides how much memory there must be.
Survey survey_chunk(std::string_view chunk, bool indices, std::int64_t dim, std::size_t longest) {
  Survey survey;
  const bool comments = chunk.find('#') != chunk.npos;
  for_each_line(chunk, 1, longest, [&](std::string_view line, std::int64_t) {
    ++survey.count.lines;
    if (comments) line = without_comment(line);
    survey.count.entries += std::min<std::int64_t>(std::count(line.begin(), line.end(), ':'), dim);
    if (is_row(line)) ++survey.count.rows;
    if (indices) survey.largest_index = std::max(survey.largest_index, last_index(line));
  });
  return survey;
}

Expected<Survey> survey_file(LineBatches& source) {
  Survey total;
  for (;;) {
    SOTTO_ASSIGN(const bool more, source.advance());
    if (!more) break;
    const auto& chunks = source.chunks();
    std::vector<Survey> surveys(chunks.size());
    parallel_for(static_cast<std::int64_t>(chunks.size()) + 1, [&](std::int64_t task, int) {
      if (task == 0) return source.prefetch();
      const auto k = static_cast<std::size_t>(task - 1);
      surveys[k] = survey_chunk(chunks[k], true, kMaxDim, source.longest_line());
    });
    for (const Survey& survey : surveys) total.add(survey);
  }
  SOTTO_TRY(source.rewind());
  return total;
}

/// Parses one row.
class RowParser {
 public:
  RowParser(std::int64_t dim, bool declared_dim, const LabelMap& labels)
      : dim_(dim), declared_dim_(declared_dim), labels_(labels) {}

  /// On a fault returns its rule; `field` is then the number of the bad field (the label is 1).
  const char* parse(std::string_view line,
                    TableBuilder::Writer& writer,
                    std::int64_t& field) const {
    const char* p = line.data();
    const char* end = p + line.size();
    skip_blanks(p, end);
    field = 1;
    double number = 0;
    const char* after = parse_number(p, end, number);
    if (after == nullptr || !ends_token(after, end))
      return "the label is not a number. A line is: label index:value index:value …";
    const std::optional<float> label = labels_(number);
    if (!label) return labels_.misfit().c_str();
    p = after;
    std::int64_t previous = 0;
    for (skip_blanks(p, end); p != end; skip_blanks(p, end)) {
      ++field;
      std::int64_t index = 0;
      const char* digit = p;
      while (digit != end && is_digit(*digit) && index <= kMaxDim)
        index = index * 10 + (*digit++ - '0');
      if (digit == p || digit == end || *digit != ':') return index_fault(index);
      if (index <= previous || index > dim_) return order_fault(index, previous);
      p = digit + 1;
      double value = 0;
      after = parse_number(p, end, value);
      if (after == nullptr || !ends_token(after, end))
        return "the value is not a number. A feature is index:value, for example 3:0.5";
      if (!fits_float(value))
        return "the value is not finite (NaN, infinity or too large for float32)";
      writer.add(static_cast<std::int32_t>(index - 1), static_cast<float>(value));
      previous = index;
      p = after;
    }
    writer.end_row(*label);
    return nullptr;
  }
  float null_label() const { return labels_.null_label(); }
  std::int64_t dim() const { return dim_; }

 private:
  static void skip_blanks(const char*& p, const char* end) {
    while (p != end && is_blank(*p)) ++p;
  }
  static bool ends_token(const char* p, const char* end) { return p == end || is_blank(*p); }

  static const char* index_fault(std::int64_t index) {
    if (index > kMaxDim)
      return "the feature index is too large; the largest possible is 2147483645";
    return "the feature index is not a whole number followed by a colon. A feature is index:value, "
           "for example 3:0.5";
  }

  const char* order_fault(std::int64_t index, std::int64_t previous) const {
    if (index == 0) return "the feature index is 0, but indices start at 1";
    if (index == previous) return "the feature index is repeated; each may occur once in a line";
    if (index < previous) return "the feature index decreases; indices must increase within a line";
    return declared_dim_
               ? "the feature index is above the declared dimension. Raise ‘dim’ or remove "
                 "the feature"
               : "a feature index after this one is smaller, or the file changed while it was "
                 "read; indices must increase within a line";
  }

  std::int64_t dim_;
  bool declared_dim_;
  const LabelMap& labels_;
};

RowFormat libsvm_format(const RowParser& parser, std::size_t longest_line) {
  RowFormat format;
  format.count = [dim = parser.dim(), longest_line](std::string_view chunk) {
    return survey_chunk(chunk, false, dim, longest_line).count;
  };
  format.parse = [parser, longest_line](std::string_view chunk,
                                        std::size_t,
                                        std::int64_t first_line,
                                        TableBuilder::Writer& writer,
                                        Refusals& refusals) {
    const bool comments = chunk.find('#') != chunk.npos;
    for_each_line(chunk, first_line, longest_line, [&](std::string_view line, std::int64_t number) {
      if (comments) line = without_comment(line);
      if (!is_row(line)) return;
      std::int64_t field = 1;
      const char* fault = is_too_long(line) ? kLineTooLong : parser.parse(line, writer, field);
      if (fault == nullptr) return;
      refusals.add(number, field, fault);
      writer.end_null_row(parser.null_label());
    });
  };
  format.null_label = parser.null_label();
  return format;
}

}  // namespace

Expected<Dataset> read_libsvm(const std::string& path, const ReadOptions& options) {
  SOTTO_TRY(check_options(options));
  if (options.dim < 0 || options.dim > kMaxDim)
    return fail(ErrorKind::kUsage,
                fmt::format("dim must be between 1 and {}, but is {}. Set ‘dim’ to the number of "
                            "features.",
                            kMaxDim,
                            options.dim));
  // Public rows say themselves which two classes they have; 0 and 1 are common.
  std::vector<std::string> convention;
  if (options.labels == LabelKind::kBinary && !options.public_rows) convention = {"-1", "1"};
  SOTTO_ASSIGN(const LabelMap labels, LabelMap::make(options, convention, path));
  if (options.dim == 0 && !options.public_rows)
    return fail(ErrorKind::kUsage,
                fmt::format("{}: the number of features must be declared. Taken from the rows it "
                            "would tell about them. Give ‘dim N’, for example ‘dim 123’.",
                            path));
  if (options.dim == 0 && path == "-")
    return fail(ErrorKind::kUsage,
                "standard input can't be read twice, which finding the number of features takes. "
                "Give ‘dim N’, for example ‘dim 123’.");
  SOTTO_ASSIGN(RowSource rows, open_row_source(path, options));
  LineBatches source(std::move(rows.file), options.limits.line_bytes);
  Dataset data;
  std::int64_t dim = options.dim;
  if (dim == 0) {
    SOTTO_ASSIGN(const Survey survey, survey_file(source));
    dim = std::min(survey.largest_index, kMaxDim);
    data.notes.push_back(fmt::format(
        "dim {} taken from the largest feature index in {}, whose rows are treated as public.",
        dim,
        path));
  }
  const bool sparse = options.layout == Layout::kAuto ? dim > kMostDenseFeatures
                                                      : options.layout == Layout::kSparse;
  TableBuilder builder(dim, sparse, {options.row_norm, options.bias});
  const RowParser parser(dim, options.dim > 0, labels);
  SOTTO_TRY(read_rows(source, libsvm_format(parser, source.longest_line()), options, builder));
  if (dim == 0)
    return fail(ErrorKind::kBadData,
                path + ": no row has a feature. A line is: label index:value index:value …");
  SOTTO_ASSIGN(data.class_names, labels.finish(builder.labels(), data.notes));
  data.row_norm_bound = options.row_norm;
  data.table = std::move(builder).finish();
  return data;
}

}  // namespace sotto
