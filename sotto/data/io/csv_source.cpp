#include "sotto/data/io/csv_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "sotto/core/nearest.hpp"
#include "sotto/data/io/csv_splitter.hpp"
#include "sotto/data/io/null_field.hpp"

namespace sotto {
namespace {

constexpr const char* kFieldTooLong =
    "the field is longer than the limit. If it is meant to be, raise ‘max_field’";
constexpr const char* kBadQuote =
    "a quoted field must end in a quote before the next separator, on the same line";

/// A line of separators is a row whose fields are all missing. All lines of a database are rows.
bool is_row(std::string_view line, const Schema& schema, CsvFields from) {
  if (from == CsvFields::kRows) return true;
  if (!schema.comment.empty() && line.starts_with(schema.comment)) return false;
  const auto is_blank = [&](char c) { return (c == ' ' || c == '\t') && c != schema.separator; };
  return !std::all_of(line.begin(), line.end(), is_blank);
}

struct Header {
  std::string text;
  std::int64_t line = 0;        ///< its number, from 1
  std::int64_t batch_line = 1;  ///< that of the first line of its batch
};

/// The file's first line that counts as a row. The next batch is then the one that it is in.
Expected<Header> find_header(LineBatches& source, const Schema& schema, CsvFields from) {
  Header header;
  for (;;) {
    SOTTO_ASSIGN(const bool more, source.advance());
    if (!more)
      return fail(
          ErrorKind::kBadData,
          source.path() + ": the file has no header line, but its schema says header = true.");
    header.batch_line = header.line + 1;
    for (const std::string_view chunk : source.chunks())
      for_each_line(chunk, 1, source.longest_line(), [&](std::string_view line, std::int64_t) {
        if (!header.text.empty()) return;
        ++header.line;
        if (header.line > schema.skip_lines && is_row(line, schema, from)) header.text = line;
      });
    if (header.text.empty()) continue;
    source.hold();
    return header;
  }
}

bool may_be_missing(Schema::Kind kind, ReadFor purpose) {
  switch (purpose) {
    case ReadFor::kTraining:
      return false;
    case ReadFor::kEvaluation:
      return kind == Schema::Kind::kUnit || kind == Schema::Kind::kIgnore;
    case ReadFor::kScoring:
      return kind == Schema::Kind::kUnit || kind == Schema::Kind::kIgnore ||
             kind == Schema::Kind::kLabel;
  }
  return false;
}

/// Empty if all are used.
std::string note_of_unused(const std::vector<std::string>& unknown,
                           const std::vector<std::string>& kept) {
  constexpr std::size_t kMostNames = 8;
  constexpr std::size_t kMostBytes = 40;
  std::string names;
  std::size_t count = 0;
  for (const std::string& name : unknown) {
    if (std::find(kept.begin(), kept.end(), name) != kept.end()) continue;
    if (++count > kMostNames) continue;
    names += names.empty() ? "'" : ", '";
    names += name.size() > kMostBytes ? name.substr(0, kMostBytes) + "…'" : name + "'";
  }
  if (count == 0) return {};
  if (count > kMostNames) names += fmt::format(" and {} more", count - kMostNames);
  return fmt::format("columns that the schema does not declare are not used: {}.", names);
}

/// Not the name itself: if the file has no header after all, this line is somebody's row.
std::string place_of_nearest(const std::string& name, const std::vector<std::string>& names) {
  const auto near = nearest(name, names);
  if (!near) return "";
  const auto place = std::find(names.begin(), names.end(), *near) - names.begin();
  return fmt::format(", but column {} of it has nearly that name", place + 1);
}

/// What to do about a header that lacks this column.
std::string remedy_for_missing(const Schema::Column& column,
                               const std::vector<std::string>& names,
                               const Schema& schema,
                               ReadFor purpose) {
  const bool knows_one = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::any_of(schema.columns.begin(), schema.columns.end(), [&](const auto& each) {
      return each.name == name;
    });
  });
  if (!knows_one)
    return names.size() == 1 ? "The first line is one field: is the separator another one? Say so "
                               "under [file] of "
                               "the schema, separator = \";\"."
                             : "The first line has none of the schema's columns: if the file has "
                               "no header, say so "
                               "under [file] of the schema, header = false.";
  if (column.kind == Schema::Kind::kLabel && purpose == ReadFor::kEvaluation)
    return "It is the label, without which nothing can be evaluated: `predict` takes rows without "
           "it.";
  return "Correct the name in the schema, or header and separator under [file].";
}

/// `header`: where the names stand, for messages.
Expected<CsvColumns> match_columns(const std::vector<std::string>& names,
                                   const std::string& header,
                                   const Schema& schema,
                                   ReadFor purpose,
                                   CsvFields from) {
  const auto bad = [&](const std::string& text) {
    return fail(ErrorKind::kBadData, fmt::format("{}: {}", header, text));
  };
  CsvColumns columns;
  columns.count = names.size();
  for (const Schema::Column& column : schema.columns) {
    const auto place = std::find(names.begin(), names.end(), column.name);
    if (place == names.end() && may_be_missing(column.kind, purpose)) {
      columns.fields.push_back(RowEncoder::kNoField);
      continue;
    }
    if (place == names.end() && from == CsvFields::kRows)
      return bad(
          fmt::format("there is no column '{}', which the schema declares.{} Correct the "
                      "name in the schema, or give a query that calls it so.",
                      column.name,
                      did_you_mean(column.name, names)));
    if (place == names.end())
      return bad(fmt::format("the header has no column '{}', which the schema declares{}. {}",
                             column.name,
                             place_of_nearest(column.name, names),
                             remedy_for_missing(column, names, schema, purpose)));
    if (std::find(place + 1, names.end(), column.name) != names.end())
      return bad(fmt::format("{} column '{}' twice.",
                             from == CsvFields::kRows ? "there is the" : "the header names",
                             column.name));
    columns.fields.push_back(static_cast<std::size_t>(place - names.begin()));
  }
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (std::any_of(schema.columns.begin(), schema.columns.end(), [&](const auto& column) {
          return column.name == names[k];
        }))
      continue;
    if (purpose == ReadFor::kTraining && from == CsvFields::kRows)
      return bad(
          fmt::format("the schema does not declare the column '{}'. Declare it, with kind = "
                      "\"ignore\" if it is not to be used, or give a query without it.",
                      names[k]));
    // Not by name: if the file has no header after all, this line is somebody's row.
    if (purpose == ReadFor::kTraining)
      return bad(
          fmt::format("the schema does not declare column {} of the header. Declare it, "
                      "with kind = \"ignore\" if it is not to be used.",
                      k + 1));
    // It does have one: every feature was found in it.
    columns.unknown.push_back(names[k]);
  }
  return columns;
}

/// Only for a header in which all features were found: its names are no row's.
Expected<void> find_kept(const std::vector<std::string>& names,
                         const std::vector<std::string>& keep,
                         const std::string& path,
                         CsvColumns& columns) {
  for (const std::string& name : keep) {
    const auto place = std::find(names.begin(), names.end(), name);
    if (place == names.end())
      return fail(ErrorKind::kUsage,
                  fmt::format("‘keep’ names '{}', which is no column of {}.{} Its columns are in "
                              "its first line, or in the schema.",
                              name,
                              path,
                              did_you_mean(name, names)));
    if (std::find(place + 1, names.end(), name) != names.end())
      return fail(
          ErrorKind::kUsage,
          fmt::format(
              "‘keep’ names '{}', but {} has two columns of that name. Rename one.", name, path));
    columns.kept.push_back(static_cast<std::size_t>(place - names.begin()));
  }
  return {};
}

}  // namespace

Expected<void> check_label(const Schema& schema, LabelKind labels) {
  using Label = Schema::Label;
  const bool fits = labels == LabelKind::kBinary ? schema.label == Label::kTwoClasses
                    : labels == LabelKind::kReal ? schema.label == Label::kNumeric
                                                 : schema.label != Label::kNumeric;
  if (fits) return {};
  const char* declares = schema.label == Label::kTwoClasses ? "two classes"
                         : schema.label == Label::kClasses  ? "several classes"
                                                            : "a numeric label";
  const char* needs = labels == LabelKind::kBinary ? "two (positive and negative)"
                      : labels == LabelKind::kReal ? "a numeric label (min and max)"
                                                   : "classes";
  const char* remedy = schema.label == Label::kTwoClasses ? "logistic"
                       : schema.label == Label::kClasses  ? "multinomial"
                                                          : "squared, huber, or poisson for counts";
  return fail(ErrorKind::kUsage,
              fmt::format("the schema declares {}, but the loss needs {}. Use ‘loss {}’, or change "
                          "the label column.",
                          declares,
                          needs,
                          remedy));
}

CsvSource::CsvSource(RowSource source, Schema schema, const ReadOptions& options)
    : schema_(std::move(schema)),
      options_(options),
      from_(source.database ? CsvFields::kRows : CsvFields::kFile),
      binary_(std::move(source.binary)),
      lines_(std::move(source.file), options.limits.line_bytes),
      feature_names_(schema_.feature_names()) {
  if (!source.database) return;
  schema_.header = true;
  schema_.separator = ',';
  schema_.comment.clear();
  schema_.skip_lines = 0;
}

Expected<std::unique_ptr<CsvSource>> CsvSource::open(const std::string& path,
                                                     Schema schema,
                                                     const ReadOptions& options) {
  SOTTO_TRY(check_options(options));
  SOTTO_TRY(check_label(schema, options.labels));
  if (options.most_rows > 0 && !schema.has_units) return no_persons();
  if (!options.classes.empty())
    return fail(ErrorKind::kUsage,
                "classes of a CSV file are declared in its schema, not as options.");
  SOTTO_ASSIGN(RowSource rows, open_row_source(path, options));
  std::unique_ptr<CsvSource> source(new CsvSource(std::move(rows), std::move(schema), options));
  SOTTO_TRY(source->find_columns());
  SOTTO_TRY(check_dim(options, source->dim(), path));
  source->make_format();
  return source;
}

Expected<void> CsvSource::find_columns() {
  std::vector<std::string> names;
  std::string place = lines_.path();
  format_.skip_lines = schema_.skip_lines;
  if (schema_.header) {
    SOTTO_ASSIGN(const Header header, find_header(lines_, schema_, from_));
    format_.first_line = header.batch_line;
    format_.skip_lines = header.line;
    if (from_ == CsvFields::kFile) {
      place = fmt::format("{}:{}:1", lines_.path(), header.line);
    } else {  // the first row has the number 1
      --format_.first_line;
      --format_.skip_lines;
    }
    constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
    CsvSplitter splitter(schema_.separator, kAny, kAny, from_);
    if (!splitter.split(header.text))
      return fail(ErrorKind::kBadData, fmt::format("{}: {}", place, kBadQuote));
    names.assign(splitter.fields().begin(), splitter.fields().end());
  } else {
    for (const auto& column : schema_.columns) names.push_back(column.name);
  }
  SOTTO_ASSIGN(columns_, match_columns(names, place, schema_, options_.purpose, from_));
  SOTTO_TRY(find_kept(names, options_.keep, lines_.path(), columns_));
  SOTTO_TRY(check_binary(names));
  wrong_width_ =
      fmt::format("{} {}",
                  options_.purpose != ReadFor::kTraining && schema_.header ? "the header has"
                                                                           : "the schema declares",
                  columns_.count);
  if (options_.scoring() && !schema_.header)
    wrong_width_ += ". Leave the fields of what is not known empty, such as the label's";
  return {};
}

Expected<void> CsvSource::check_binary(const std::vector<std::string>& names) const {
  std::vector<std::size_t> used = columns_.kept;
  for (std::size_t c = 0; c < schema_.columns.size(); ++c)
    if (schema_.columns[c].kind != Schema::Kind::kIgnore) used.push_back(columns_.fields[c]);
  for (const std::size_t field : used)
    if (field < names.size() &&
        std::find(binary_.begin(), binary_.end(), names[field]) != binary_.end())
      return fail(ErrorKind::kBadData,
                  fmt::format("{}: the column '{}' holds bytes (a blob), which are neither numbers "
                              "nor texts. Leave it out, declare it with kind = \"ignore\", or turn "
                              "it into a text in a query.",
                              lines_.path(),
                              names[field]));
  return {};
}

double CsvSource::row_norm_bound() const {
  const double bound = schema_.row_norm_bound(options_.bias);
  return options_.row_norm > 0 ? std::min(bound, options_.row_norm) : bound;
}

Dataset CsvSource::facts() const {
  Dataset data;
  data.unit = schema_.unit();
  data.schema = schema_.text;
  data.feature_names = feature_names_;
  data.class_names = schema_.class_names();
  if (options_.bias) data.feature_names.emplace_back("bias");
  data.row_norm_bound = row_norm_bound();
  if (auto note = note_of_unused(columns_.unknown, options_.keep); !note.empty())
    data.notes.push_back(std::move(note));
  return data;
}

bool CsvSource::persons() const {
  if (!schema_.has_units || !options_.persons || options_.scoring()) return false;
  for (std::size_t c = 0; c < schema_.columns.size(); ++c)
    if (schema_.columns[c].kind == Schema::Kind::kUnit)
      return columns_.fields[c] != RowEncoder::kNoField;
  return false;
}

TableBuilder CsvSource::builder() const {
  return {dim(), sparse_, {row_norm_bound(), options_.bias, options_.most_rows}, persons()};
}

void CsvSource::make_format() {
  sparse_ = options_.layout == Layout::kAuto ? 4 * schema_.max_entries() <= dim()
                                             : options_.layout == Layout::kSparse;
  encoder_.emplace(schema_,
                   columns_.fields,
                   options_.labels == LabelKind::kMulticlass,
                   options_.misfits,
                   RowEncoder::Demands{!options_.scoring(),
                                       options_.purpose == ReadFor::kTraining || persons()});
  format_.count = [this, row_entries = schema_.max_entries()](std::string_view chunk) {
    ChunkCount count;
    for_each_line(chunk, 1, options_.limits.line_bytes, [&](std::string_view line, std::int64_t) {
      ++count.lines;
      if (is_row(line, schema_, from_)) ++count.rows;
    });
    count.entries = count.rows * row_entries;
    return count;
  };
  format_.parse = [this](std::string_view chunk,
                         std::size_t k,
                         std::int64_t first_line,
                         TableBuilder::Writer& writer,
                         Refusals& refusals) {
    CsvSplitter splitter(schema_.separator, columns_.count + 1, options_.limits.field_bytes, from_);
    Extras* extras = extras_ == nullptr ? nullptr : &(*extras_)[k];
    for_each_line(chunk,
                  first_line,
                  options_.limits.line_bytes,
                  [&](std::string_view line, std::int64_t number) {
                    if (is_row(line, schema_, from_))
                      parse_line(line, number, splitter, writer, refusals, extras);
                  });
  };
  format_.null_label = encoder_->null_label();
}

/// Behind the rule that a row breaks whose fields are the schema's names of columns.
std::string CsvSource::hint_of_header(std::span<const std::string_view> fields) const {
  const bool is_header =
      !schema_.header && std::all_of(fields.begin(), fields.end(), [&](std::string_view field) {
        return std::any_of(schema_.columns.begin(), schema_.columns.end(), [&](const auto& column) {
          return column.name == field;
        });
      });
  if (!is_header) return "";
  return fmt::format(
      ". This row holds the names of columns, but {}, which means that the file has no header: say "
      "header = true under [file] of the schema",
      schema_.has_file_table ? "[file] of the schema says no header = true"
                             : "the schema has no [file] table");
}

void CsvSource::parse_line(std::string_view line,
                           std::int64_t number,
                           CsvSplitter& splitter,
                           TableBuilder::Writer& writer,
                           Refusals& refusals,
                           Extras* extras) const {
  const auto refuse = [&](std::size_t field, std::string_view rule) {
    refusals.add(number, static_cast<std::int64_t>(field) + 1, rule);
  };
  // A line of the wrong width is still its person's, if it has the field that says whose: how many
  // units there are must not follow how a person's rows look. One that names nobody is a unit of
  // its own.
  const auto refuse_line = [&](std::size_t field, std::string_view rule) {
    refuse(field, rule);
    writer.end_null_row(encoder_->null_label(), encoder_->person_in(splitter.fields()));
  };
  if (is_too_long(line)) {  // its text was not kept
    refuse(0, kLineTooLong);
    return writer.end_null_row(encoder_->null_label());
  }
  const bool closed = splitter.split(line);
  const auto fields = splitter.fields();
  if (splitter.long_field()) return refuse_line(*splitter.long_field(), kFieldTooLong);
  if (!closed) return refuse_line(fields.size(), kBadQuote);
  if (fields.size() < columns_.count)
    return refuse_line(fields.size() - 1,
                       fmt::format("the row has too few fields; {}", wrong_width_));
  if (fields.size() > columns_.count)
    return refuse_line(columns_.count,
                       fmt::format("the row has too many fields; {}", wrong_width_));
  const RowEncoder::Fault fault = encoder_->encode(fields, sparse_, writer);
  if (!fault.text.empty()) return refuse(fault.field, fault.text + hint_of_header(fields));
  if (extras == nullptr) return;
  if (!encoder_->has_label(fields)) ++extras->without_label;
  if (columns_.kept.empty()) return;
  for (const std::size_t k : columns_.kept) {
    if (from_ == CsvFields::kRows && fields[k].empty() && !is_null_field(fields[k]))
      extras->kept += "\"\"";  // a text, as a database will have it again
    append_csv_field(extras->kept, fields[k]);
    extras->kept += ',';
  }
  extras->ends.push_back(extras->kept.size());
}

}  // namespace sotto
