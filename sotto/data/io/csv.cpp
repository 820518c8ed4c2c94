#include "sotto/data/io/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "sotto/data/io/row_reader.hpp"
#include "sotto/data/row_encoder.hpp"

namespace sotto {
namespace {

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// Blanks that do not separate fields.
const char* blanks_beside(char separator) {
  return separator == '\t' ? " " : separator == ' ' ? "\t" : " \t";
}

/// The fields of one line.
class Splitter {
 public:
  /// Fields after the first `most` are not looked at, and those of more than `longest` bytes stand
  /// there empty: no row decides how much memory there must be.
  Splitter(char separator, std::size_t most, std::size_t longest)
      : separator_(separator), blanks_(blanks_beside(separator)), most_(most), longest_(longest) {}

  /// False if a quoted field does not end, or goes on after its end; fields() then end before it.
  bool split(std::string_view line) {
    fields_.clear();
    long_field_.reset();
    unquoted_.clear();
    unquoted_.reserve(line.size());  // views into it must not move
    std::size_t begin = 0;
    for (;;) {
      const std::size_t quote = std::min(line.find_first_not_of(blanks_, begin), line.size());
      std::size_t end = 0;
      if (quote < line.size() && line[quote] == '"') {
        const std::optional<std::size_t> close = add_quoted(line, quote);
        if (!close) return false;
        end = *close;
      } else {
        end = std::min(line.find(separator_, begin), line.size());
        fields_.push_back(trim(line.substr(begin, end - begin)));
      }
      if (fields_.back().size() > longest_) {
        if (!long_field_) long_field_ = fields_.size() - 1;
        fields_.back() = {};
      }
      if (end == line.size() || fields_.size() == most_) return true;
      begin = end + 1;
    }
  }

  const std::vector<std::string_view>& fields() const { return fields_; }
  /// The first field that is too long.
  std::optional<std::size_t> long_field() const { return long_field_; }

 private:
  /// Returns where the separator after the field is.
  std::optional<std::size_t> add_quoted(std::string_view line, std::size_t quote) {
    const std::size_t start = unquoted_.size();
    std::size_t i = quote + 1;
    for (;; ++i) {
      const std::size_t next = line.find('"', i);
      if (next == line.npos) return std::nullopt;
      unquoted_.append(line.substr(i, next - i));
      i = next + 1;
      if (i == line.size() || line[i] != '"') break;
      unquoted_ += '"';
    }
    fields_.push_back(std::string_view(unquoted_).substr(start));
    const std::size_t end = std::min(line.find_first_not_of(blanks_, i), line.size());
    if (end < line.size() && line[end] != separator_) {
      fields_.pop_back();
      return std::nullopt;
    }
    return end;
  }

  char separator_;
  const char* blanks_;
  std::size_t most_;
  std::size_t longest_;
  std::optional<std::size_t> long_field_;
  std::vector<std::string_view> fields_;
  std::string unquoted_;
};

constexpr const char* kFieldTooLong =
    "the field is longer than the limit. If it is meant to be, raise ‘max_field’";
constexpr const char* kBadQuote =
    "a quoted field must end in a quote before the next separator, on the same line";

/// A line of separators is a row whose fields are all missing.
bool is_row(std::string_view line, const Schema& schema) {
  if (!schema.comment.empty() && line.starts_with(schema.comment)) return false;
  return line.find_first_not_of(blanks_beside(schema.separator)) != line.npos;
}

/// The file's first line that counts as a row, with its number, from 1.
Expected<std::pair<std::string, std::int64_t>> find_header(LineBatches& source,
                                                           const Schema& schema) {
  std::int64_t line_number = 0;
  for (;;) {
    SOTTO_ASSIGN(const bool more, source.advance());
    if (!more)
      return fail(
          ErrorKind::kBadData,
          source.path() + ": the file has no header line, but its schema says header = true.");
    std::string header;
    for (const std::string_view chunk : source.chunks())
      for_each_line(chunk, 1, source.longest_line(), [&](std::string_view line, std::int64_t) {
        if (!header.empty()) return;
        ++line_number;
        if (line_number > schema.skip_lines && is_row(line, schema)) header = line;
      });
    if (header.empty()) continue;
    SOTTO_TRY(source.rewind());
    return std::pair(std::move(header), line_number);
  }
}

/// Where each of the schema's columns stands in a row of the file.
Expected<std::vector<std::size_t>> match_header(std::string_view header,
                                                std::int64_t line,
                                                const Schema& schema,
                                                const std::string& path) {
  const auto bad = [&](const std::string& text) {
    return fail(ErrorKind::kBadData, fmt::format("{}:{}:1: {}", path, line, text));
  };
  Splitter splitter(schema.separator,
                    std::numeric_limits<std::size_t>::max(),
                    std::numeric_limits<std::size_t>::max());
  if (!splitter.split(header)) return bad(kBadQuote);
  const auto& names = splitter.fields();
  std::vector<std::size_t> fields;
  for (const Schema::Column& column : schema.columns) {
    const auto place = std::find(names.begin(), names.end(), column.name);
    if (place == names.end())
      return bad(
          fmt::format("the header has no column '{}', which the schema declares. Correct the "
                      "name in the schema, or header and separator under [file].",
                      column.name));
    if (std::find(place + 1, names.end(), column.name) != names.end())
      return bad(fmt::format("the header names column '{}' twice.", column.name));
    fields.push_back(static_cast<std::size_t>(place - names.begin()));
  }
  // Not by name: if the file has no header after all, this line is somebody's row.
  for (std::size_t k = 0; k < names.size(); ++k)
    if (std::none_of(schema.columns.begin(), schema.columns.end(), [&](const auto& column) {
          return column.name == names[k];
        }))
      return bad(
          fmt::format("the schema does not declare column {} of the header. Declare it, "
                      "with kind = \"ignore\" if it is not to be used.",
                      k + 1));
  return fields;
}

RowFormat csv_format(const Schema& schema,
                     const RowEncoder& encoder,
                     bool sparse,
                     const InputLimits& limits) {
  RowFormat format;
  const std::int64_t row_entries = schema.max_entries();
  format.count = [&schema, row_entries, longest = limits.line_bytes](std::string_view chunk) {
    ChunkCount count;
    for_each_line(chunk, 1, longest, [&](std::string_view line, std::int64_t) {
      ++count.lines;
      if (is_row(line, schema)) ++count.rows;
    });
    count.entries = count.rows * row_entries;
    return count;
  };
  format.parse = [&schema, &encoder, sparse, limits](std::string_view chunk,
                                                     std::int64_t first_line,
                                                     TableBuilder::Writer& writer,
                                                     Refusals& refusals) {
    const std::size_t expected = schema.columns.size();
    Splitter splitter(schema.separator, expected + 1, limits.field_bytes);
    for_each_line(
        chunk, first_line, limits.line_bytes, [&](std::string_view line, std::int64_t number) {
          if (!is_row(line, schema)) return;
          const auto refuse = [&](std::size_t field, std::string_view rule) {
            refusals.add(number, static_cast<std::int64_t>(field) + 1, rule);
          };
          // A line of the wrong width is still its person's, if it has the field that says whose:
          // how many units there are must not follow how a person's rows look. One that names
          // nobody is a unit of its own.
          const auto refuse_line = [&](std::size_t field, std::string_view rule) {
            refuse(field, rule);
            writer.end_null_row(encoder.null_label(), encoder.person_in(splitter.fields()));
          };
          if (is_too_long(line)) {  // its text was not kept
            refuse(0, kLineTooLong);
            return writer.end_null_row(encoder.null_label());
          }
          const bool closed = splitter.split(line);
          const auto& fields = splitter.fields();
          if (splitter.long_field()) return refuse_line(*splitter.long_field(), kFieldTooLong);
          if (!closed) return refuse_line(fields.size(), kBadQuote);
          if (fields.size() < expected)
            return refuse_line(
                fields.size() - 1,
                fmt::format("the row has too few fields; the schema declares {}", expected));
          if (fields.size() > expected)
            return refuse_line(
                expected,
                fmt::format("the row has too many fields; the schema declares {}", expected));
          const RowEncoder::Fault fault = encoder.encode(fields, sparse, writer);
          if (!fault.text.empty()) refuse(fault.field, fault.text);
        });
  };
  format.null_label = encoder.null_label();
  return format;
}

Expected<void> check_label(const Schema& schema, const ReadOptions& options) {
  using Label = Schema::Label;
  const bool fits = options.labels == LabelKind::kBinary ? schema.label == Label::kTwoClasses
                    : options.labels == LabelKind::kReal ? schema.label == Label::kNumeric
                                                         : schema.label != Label::kNumeric;
  if (fits) return {};
  const char* declares = schema.label == Label::kTwoClasses ? "two classes"
                         : schema.label == Label::kClasses  ? "several classes"
                                                            : "a numeric label";
  const char* needs = options.labels == LabelKind::kBinary ? "two (positive and negative)"
                      : options.labels == LabelKind::kReal ? "a numeric label (min and max)"
                                                           : "classes";
  return fail(ErrorKind::kUsage,
              fmt::format("the schema declares {}, but the loss needs {}. Choose another loss or "
                          "change the label column.",
                          declares,
                          needs));
}

}  // namespace

Expected<Dataset> read_csv(const std::string& path,
                           const Schema& schema,
                           const ReadOptions& options) {
  SOTTO_TRY(check_options(options));
  SOTTO_TRY(check_label(schema, options));
  if (!options.classes.empty())
    return fail(ErrorKind::kUsage,
                "classes of a CSV file are declared in its schema, not as options.");
  SOTTO_ASSIGN(InputFile file,
               InputFile::open(path, options.misfits == Misfits::kNull, options.limits));
  LineBatches source(std::move(file), options.limits.line_bytes);
  std::vector<std::size_t> fields(schema.columns.size());
  for (std::size_t c = 0; c < fields.size(); ++c) fields[c] = c;
  std::int64_t skipped = schema.skip_lines;
  if (schema.header) {
    SOTTO_ASSIGN(const auto header, find_header(source, schema));
    SOTTO_ASSIGN(fields, match_header(header.first, header.second, schema, path));
    skipped = header.second;
  }

  Dataset data;
  data.unit = schema.unit();
  data.schema = schema.text;
  data.feature_names = schema.feature_names();
  data.class_names = schema.class_names();
  if (options.bias) data.feature_names.emplace_back("bias");
  data.row_norm_bound = schema.row_norm_bound(options.bias);
  if (options.row_norm > 0) data.row_norm_bound = std::min(data.row_norm_bound, options.row_norm);

  const std::int64_t dim = std::ssize(schema.feature_names());
  SOTTO_TRY(check_dim(options, dim, path));
  const bool sparse = options.layout == Layout::kAuto ? 4 * schema.max_entries() <= dim
                                                      : options.layout == Layout::kSparse;
  const RowEncoder encoder(
      schema, std::move(fields), options.labels == LabelKind::kMulticlass, options.misfits);
  RowFormat format = csv_format(schema, encoder, sparse, options.limits);
  format.skip_lines = skipped;
  TableBuilder builder(
      dim, sparse, {data.row_norm_bound, options.bias}, schema.has_units && options.persons);
  SOTTO_TRY(read_rows(source, format, options, builder));
  data.table = std::move(builder).finish();
  return data;
}

}  // namespace sotto
