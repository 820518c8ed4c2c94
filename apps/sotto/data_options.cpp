#include "data_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <system_error>

#include "sotto/core/numbers.hpp"
#include "sotto/data/sql/database_path.hpp"

namespace sotto::app {

void DataArguments::add_to(Verb& verb) {
  verb.add_input("--schema",
                 schema_path,
                 "TOML file that declares a CSV file's columns and public bounds "
                 "(docs/reference/schema.md)")
      .group("Data");
  verb.add_word("--format",
                format,
                "auto, libsvm, csv, npy, idx, cifar10 or cifar100; pairs are FEATURES,LABELS")
      .show_default()
      .group("Data");
  verb.add_option("--dim", dim, "number of features, a public fact; LIBSVM files need it")
      .group("Data");
  verb.add_word("--classes",
                classes,
                "the labels' classes, a public fact: 0,1 (negative first) or 0..9; LIBSVM's are "
                "-1,1 and images' 0..9 unless told otherwise")
      .group("Data");
  verb.add_word("--layout",
                layout,
                "rows in memory: dense, sparse, or auto (by format and number of features)")
      .show_default()
      .group("Data");
  verb.add_option(
          "--row-norm", row_norm, "public bound R on row norms: longer rows are scaled to it")
      .group("Data");
  verb.add_switch("--bias",
                  bias,
                  "an intercept (a constant-one feature) for linear models; --no-bias: none")
      .group("Data");
  verb.add_flag("--no-refusals",
                no_refusals,
                "rows that don't fit what is declared become the declared filler or empty records, "
                "instead of an error that tells of them")
      .group("Data");
  add_limits(verb);
}

void DataArguments::add_most_rows(Verb& verb) {
  verb.add_option(
          "--most-rows",
          most_rows,
          "of each person's rows use the first K in the file's order (with a unit column in "
          "the schema); default: all")
      .group("Data");
}

void DataArguments::add_limits(Verb& verb) {
  const auto add_limit = [&](const char* name, auto& bytes, const char* text) {
    verb.add_option(name, bytes, text).bytes().group("Limits");
  };
  add_limit("--max-file", limits.file_bytes, "bytes of a data file, such as 200GB; default 64GB");
  add_limit("--max-unpacked",
            limits.unpacked_bytes,
            "bytes that a .gz may unpack to; default 1GB, or 50 times the file where that is more");
  add_limit("--max-line", limits.line_bytes, "bytes of a line of text; default 64MB");
  add_limit("--max-field", limits.field_bytes, "bytes of a field of CSV; default 1MB");
}

Option DataArguments::add_rows(Verb& verb,
                               const std::string& name,
                               std::string& path,
                               const std::string& help) {
  verb.reads(Verb::called(name), [this, &path] { return files_of(path); });
  return verb.add_word(name, path, help);
}

std::vector<std::string> DataArguments::files_of(const std::string& path) const {
  LoadOptions options;
  options.path = path;
  options.schema = schema_path;
  if (const auto known = parse_format(format)) options.format = *known;
  std::vector<std::string> files = data_files(options);
  // With a schema that came inside a model, the name is one file's whatever it looks like.
  if (files != std::vector{path} && path != "-" && !is_database(path)) files.push_back(path);
  return files;
}

std::vector<std::string> DataArguments::files_written(const std::string& table,
                                                      const std::string& rows) const {
  const std::vector<std::string> written = files_of(table);
  const std::vector<std::string> read = files_of(rows);
  if (!is_database(rows) || read.empty() || written.empty()) return written;
  std::error_code error;
  const bool same = read.front() == written.front() ||
                    std::filesystem::equivalent(read.front(), written.front(), error);
  return same ? std::vector<std::string>() : written;
}

Option add_table_output(Verb& verb,
                        const std::string& name,
                        std::string& path,
                        const std::string& help) {
  verb.writes(Verb::called(name), [&path] {
    LoadOptions options;
    options.path = path;
    return data_files(options);
  });
  return verb.add_word(name, path, help);
}

Expected<std::vector<std::string>> DataArguments::class_list() const {
  std::vector<std::string> list;
  if (classes.empty()) return list;
  if (const std::size_t dots = classes.find(".."); dots != classes.npos) {
    const auto first = number_in<std::int64_t>(std::string_view(classes).substr(0, dots));
    const auto last = number_in<std::int64_t>(std::string_view(classes).substr(dots + 2));
    if (!first || !last || *first >= *last || *first < -1'000'000 || *last - *first >= 100'000)
      return fail(
          ErrorKind::kUsage,
          fmt::format("--classes FIRST..LAST takes two whole numbers, the smaller one first, "
                      "but is '{}'.",
                      classes));
    for (std::int64_t c = *first; c <= *last; ++c) list.push_back(std::to_string(c));
    return list;
  }
  for (std::size_t begin = 0; begin <= classes.size();) {
    const std::size_t end = std::min(classes.find(',', begin), classes.size());
    list.push_back(classes.substr(begin, end - begin));
    begin = end + 1;
  }
  return list;
}

Expected<LoadOptions> DataArguments::load_options(const std::string& path) const {
  if (is_database(path)) SOTTO_TRY(parse_database_path(path));  // a password is never shown
  LoadOptions options;
  options.path = path;
  SOTTO_ASSIGN(options.format, parse_format(format));
  options.schema = schema_path;
  options.dim = dim;
  SOTTO_ASSIGN(options.classes, class_list());
  if (layout != "auto" && layout != "dense" && layout != "sparse")
    return fail(ErrorKind::kUsage,
                fmt::format("--layout must be auto, dense or sparse, but is '{}'.", layout));
  options.layout = layout == "dense"    ? Layout::kDense
                   : layout == "sparse" ? Layout::kSparse
                                        : Layout::kAuto;
  options.row_norm = row_norm;
  if (most_rows && *most_rows < 1)
    return fail(ErrorKind::kUsage,
                fmt::format("--most-rows must be at least 1, but is {}.", *most_rows));
  options.most_rows = most_rows.value_or(0);
  options.bias = bias;
  options.misfits = no_refusals ? Misfits::kNull : Misfits::kRefuse;
  options.limits = limits;
  return options;
}

}  // namespace sotto::app
