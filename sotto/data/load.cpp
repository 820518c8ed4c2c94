#include "sotto/data/load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "sotto/core/nearest.hpp"
#include "sotto/data/io/cifar.hpp"
#include "sotto/data/io/csv.hpp"
#include "sotto/data/io/idx.hpp"
#include "sotto/data/io/input_file.hpp"
#include "sotto/data/io/libsvm.hpp"
#include "sotto/data/io/npy.hpp"
#include "sotto/data/io/row_source.hpp"
#include "sotto/data/sql/database_path.hpp"

namespace sotto {
namespace {

/// Only formats that are read in one go come through a pipe, and a database has columns.
Expected<void> check_can_be_source(const std::string& path, Format format) {
  if (is_database(path)) {
    SOTTO_TRY(parse_database_path(path));  // what is wrong with it is said first
    if (format->has_schema) return {};
    return fail(ErrorKind::kUsage,
                fmt::format("{}: a database has columns, which a schema describes, but the format "
                            "is {}. Leave ‘format’ out.",
                            path,
                            format->name));
  }
  if (path != "-" || format->in_one_go) return {};
  return fail(
      ErrorKind::kUsage,
      fmt::format("standard input (-) is read as CSV or LIBSVM, but the format is {}. Write "
                  "the rows to files first.",
                  format->name));
}

/// "FEATURES,LABELS" in two.
Expected<std::pair<std::string, std::string>> split_pair(const std::string& path) {
  const std::size_t comma = path.find(',');
  if (comma == path.npos || comma == 0 || comma + 1 == path.size())
    return fail(
        ErrorKind::kUsage,
        fmt::format("{}: features and labels are two files in this format. Give both, with a "
                    "comma and no blank between them, for example X.npy,y.npy.",
                    path));
  return std::pair(path.substr(0, comma), path.substr(comma + 1));
}

using Files = std::vector<std::string>;

Expected<Files> pair_files(const std::string& path) {
  SOTTO_ASSIGN(auto pair, split_pair(path));
  return Files{std::move(pair.first), std::move(pair.second)};
}

template <auto kRead>
Expected<Dataset> read_pair(const LoadOptions& options) {
  SOTTO_ASSIGN(const auto pair, split_pair(options.path));
  return kRead(pair.first, pair.second, options);
}

Expected<void> write_pair(const std::string& path, const Table& table) {
  SOTTO_ASSIGN(const auto pair, split_pair(path));
  return write_npy(pair.first, pair.second, table);
}

Expected<Dataset> read_columns(const LoadOptions& options) {
  if (!options.has_schema())
    return fail(ErrorKind::kUsage,
                fmt::format("{}: {} needs a schema that declares its columns, their bounds "
                            "and categories: taken from the rows they would leak. Give "
                            "‘schema FILE.toml’ (see docs/reference/schema.md).",
                            options.path,
                            is_database(options.path) ? "a database" : "a CSV file"));
  SOTTO_ASSIGN(const Schema schema, read_schema(options));
  return read_csv(options.path, schema, options);
}

bool is_cifar(const std::string& path) {
  std::error_code error;
  return path.ends_with(".bin") || std::filesystem::is_directory(path, error);
}

template <CifarKind kKind>
Expected<Files> kind_files(const std::string& path) {
  return cifar_files(path, kKind);
}

template <CifarKind kKind>
Expected<Dataset> read_kind(const LoadOptions& options) {
  return read_cifar(options.path, kKind, options);
}

/// All formats. The first is that of files whose names say nothing.
constexpr std::array kFormats = {
    FormatInfo{
        .name = "libsvm",
        .read = [](const LoadOptions& options) { return read_libsvm(options.path, options); },
        .write = write_libsvm,
        .in_one_go = true,
        .declares_dim = true,
        .labels_are_any = true},
    FormatInfo{.name = "csv",
               .read = read_columns,
               .is_named = [](const std::string& path) { return path.ends_with(".csv"); },
               .in_one_go = true,
               .has_schema = true},
    FormatInfo{.name = "npy",
               .read = read_pair<read_npy>,
               .write = write_pair,
               .is_named = [](const std::string& path) { return path.ends_with(".npy"); },
               .files = pair_files,
               .labels_are_any = true},
    FormatInfo{.name = "idx",
               .read = read_pair<read_idx>,
               .is_named = [](const std::string& path) { return path.ends_with("-ubyte"); },
               .files = pair_files},
    FormatInfo{.name = "cifar10",
               .read = read_kind<CifarKind::kTen>,
               .is_named = is_cifar,
               .files = kind_files<CifarKind::kTen>},
    FormatInfo{.name = "cifar100",
               .read = read_kind<CifarKind::kHundred>,
               .files = kind_files<CifarKind::kHundred>}};

template <class Holds>
Format format_with(const Holds& holds) {
  const auto place = std::find_if(kFormats.begin(), kFormats.end(), holds);
  return place == kFormats.end() ? nullptr : &*place;
}

}  // namespace

Expected<Format> parse_format(const std::string& name) {
  if (name == "auto") return nullptr;
  if (const Format format = format_with([&](const FormatInfo& info) { return info.name == name; }))
    return format;
  std::vector<std::string> known = {"auto"};
  for (const FormatInfo& info : kFormats) known.emplace_back(info.name);
  return fail(ErrorKind::kUsage,
              fmt::format("unknown format '{}'.{} It must be one of {}.",
                          name,
                          did_you_mean(name, known),
                          fmt::join(known, ", ")));
}

Format resolve_format(const LoadOptions& options) {
  if (options.format) return options.format;
  if (options.has_schema() || is_database(options.path))
    return format_with([](const FormatInfo& info) { return info.has_schema; });
  std::string name = options.path;
  std::error_code error;
  if (!std::filesystem::is_directory(name, error)) {
    name.resize(std::min(name.size(), name.find(',')));  // the first of a pair or list
    if (name.ends_with(".gz")) name.resize(name.size() - 3);
  }
  const Format format =
      format_with([&](const FormatInfo& info) { return info.is_named && info.is_named(name); });
  return format ? format : &kFormats.front();
}

std::vector<std::string> data_files(const LoadOptions& options) {
  if (is_database(options.path)) {
    const auto database = parse_database_path(options.path);
    if (!database || !database->is_file()) return {};
    // Beside the file that a link leads to. What was not taken back or copied yet is in them.
    std::error_code error;
    const auto file = std::filesystem::weakly_canonical(database->place, error);
    const std::string real = error ? database->place : file.string();
    return {database->place, real + "-wal", real + "-shm", real + "-journal"};
  }
  if (options.path == "-") return {"/dev/stdin"};
  if (const Format format = resolve_format(options); format->files)
    if (auto files = format->files(options.path)) return *std::move(files);
  return {options.path};
}

Expected<Schema> read_schema(const LoadOptions& options) {
  return options.schema.empty() ? Schema::parse(options.schema_text, "the model's schema")
                                : Schema::load(options.schema);
}

Expected<Dataset> load_table(const LoadOptions& options) {
  const Format format = resolve_format(options);
  if (!options.format) SOTTO_TRY(check_is_readable_here(options.path));
  SOTTO_TRY(check_can_be_source(options.path, format));
  if (!format->has_schema && options.has_schema())
    return fail(
        ErrorKind::kUsage,
        fmt::format("a schema describes a CSV file, but the format is {}. Leave out ‘schema’ "
                    "or set ‘format csv’.",
                    format->name));
  if (!format->has_schema && options.most_rows > 0) return no_persons();
  return format->read(options);
}

Expected<void> write_table(const std::string& path, const Table& table) {
  LoadOptions options;
  options.path = path;
  const Format format = resolve_format(options);
  if (format->write) return format->write(path, table);
  return fail(
      ErrorKind::kUsage,
      fmt::format("{}: tables are written as LIBSVM text or as an .npy pair, but the name asks "
                  "for {}. Use a name such as data.svm, data.svm.gz or X.npy,y.npy.",
                  path,
                  format->name));
}

namespace {

DataInfo::Diagnostics diagnose(const Dataset& data) {
  const Table& table = data.table;
  DataInfo::Diagnostics result;
  result.rows = table.rows();
  result.sparse = table.sparse();
  result.table_bytes = table.bytes();
  for (std::int64_t u = 0; u < table.units(); ++u)
    result.largest_unit =
        std::max(result.largest_unit, table.unit_begin(u + 1) - table.unit_begin(u));
  const auto summarize = [](auto values, double& min, double& mean, double& max) {
    if (values.empty()) return;
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    double sum = 0;
    for (const auto value : values) sum += static_cast<double>(value);
    min = static_cast<double>(*low);
    max = static_cast<double>(*high);
    mean = sum / static_cast<double>(values.size());
  };
  summarize(table.labels(), result.label_min, result.label_mean, result.label_max);
  summarize(table.norms(), result.norm_min, result.norm_mean, result.norm_max);
  const std::size_t classes = data.class_names.size();
  result.class_rows.resize(classes);
  if (classes > 0) {
    const bool two_signs = result.label_min < 0;
    for (const float label : table.labels())
      ++result.class_rows[static_cast<std::size_t>(two_signs ? label > 0 : label)];
  }
  std::int64_t nonzero = 0;
  if (table.sparse()) {
    nonzero =
        std::ssize(table.values()) - std::count(table.values().begin(), table.values().end(), 0.0F);
  } else {
    for (std::int64_t i = 0; i < table.rows(); ++i)
      nonzero += table.dim() - std::count(table.row(i), table.row(i) + table.dim(), 0.0F);
  }
  result.density =
      static_cast<double>(nonzero) /
      std::max(1.0, static_cast<double>(table.rows()) * static_cast<double>(table.dim()));
  return result;
}

}  // namespace

Expected<DataInfo> describe(const LoadOptions& options,
                            const Dataset& data,
                            std::optional<std::int64_t> public_n,
                            bool unsafe_diagnostics) {
  DataInfo info;
  info.path = options.path;
  info.format = is_database(options.path) ? options.path.substr(0, options.path.find(':'))
                                          : std::string(resolve_format(options)->name);
  info.units = public_n.value_or(data.table.units());
  info.units_declared = public_n.has_value();
  info.persons = data.table.has_units();
  info.dim = data.table.dim();
  info.row_norm_bound = data.row_norm_bound;
  info.class_names = data.class_names;
  info.feature_names = data.feature_names;
  info.notes = data.notes;
  if (!unsafe_diagnostics) return info;
  info.diagnostics = diagnose(data);
  std::error_code error;
  if (!is_database(options.path) && options.path != "-" &&
      !std::filesystem::is_directory(options.path, error)) {
    SOTTO_ASSIGN(const InputFile file,
                 InputFile::open(data_files(options).front(), true, options.limits));
    info.diagnostics->file_bytes = static_cast<std::int64_t>(file.file_size());
  }
  return info;
}

}  // namespace sotto
