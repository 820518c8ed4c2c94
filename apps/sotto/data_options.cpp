#include "data_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "sotto/core/file.hpp"
#include "sotto/core/text.hpp"
#include "sotto/data/io/csv.hpp"
#include "sotto/data/schema.hpp"

namespace sotto::app {
namespace {

std::string unit_of(const Schema& schema) {
  for (const auto& column : schema.columns)
    if (column.kind == Schema::Kind::kUnit) return column.name;
  return "row";
}

}  // namespace

void DataArguments::add_to(Verb& verb) {
  verb.add_input("--schema",
                 schema_path,
                 "TOML file that declares a CSV file's columns and public bounds "
                 "(docs/reference/schema.md)")
      ->group("Data");
  verb.add_word("--format",
                format,
                "auto, libsvm, csv, npy, idx, cifar10 or cifar100; pairs are FEATURES,LABELS")
      ->capture_default_str()
      ->group("Data");
  verb.add_option("--dim", dim, "number of features, a public fact; LIBSVM files need it")
      ->group("Data");
  verb.add_word("--classes",
                classes,
                "the labels' classes, a public fact: 0,1 (negative first) or 0..9; LIBSVM's are "
                "-1,1 and images' 0..9 unless told otherwise")
      ->group("Data");
  verb.add_word("--layout",
                layout,
                "rows in memory: dense, sparse, or auto (by format and number of features)")
      ->capture_default_str()
      ->group("Data");
  verb.add_option(
          "--row-norm", row_norm, "public bound R on row norms: longer rows are scaled to it")
      ->group("Data");
  verb.add_flag("--bias", bias, "add an intercept (a constant-one feature)")->group("Data");
  verb.add_flag("--no-refusals",
                no_refusals,
                "rows that don't fit what is declared become the declared filler or empty records, "
                "instead of an error that tells of them")
      ->group("Data");
  add_limits(verb);
}

void DataArguments::add_limits(Verb& verb) {
  const auto add_limit = [&](const char* name, auto& bytes, const char* text) {
    verb.add_option(name, bytes, text)
        ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false))
        ->check(CLI::PositiveNumber)
        ->group("Limits");
  };
  add_limit("--max-file", limits.file_bytes, "bytes of a data file, such as 200GB; default 64GB");
  add_limit("--max-unpacked",
            limits.unpacked_bytes,
            "bytes that a .gz may unpack to; default 1GB, or 50 times the file where that is more");
  add_limit("--max-line", limits.line_bytes, "bytes of a line of text; default 64MB");
  add_limit("--max-field", limits.field_bytes, "bytes of a field of CSV; default 1MB");
}

CLI::Option* DataArguments::add_rows(Verb& verb,
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
  if (files != std::vector{path}) files.push_back(path);
  return files;
}

CLI::Option* add_table_output(Verb& verb,
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
    const auto whole = [](std::string_view text) -> std::optional<std::int64_t> {
      std::int64_t value = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
      return value;
    };
    const auto first = whole(std::string_view(classes).substr(0, dots));
    const auto last = whole(std::string_view(classes).substr(dots + 2));
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

Expected<LoadOptions> DataArguments::load_options(const std::string& path, LabelKind labels) const {
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
  options.bias = bias;
  options.labels = labels;
  options.persons = persons;
  options.misfits = no_refusals ? Misfits::kNull : Misfits::kRefuse;
  options.limits = limits;
  SOTTO_TRY(check_options(options));
  return options;
}

Expected<LoadedFile> DataArguments::load(const std::string& path,
                                         bool classification,
                                         bool public_rows) const {
  SOTTO_ASSIGN(LoadOptions options,
               load_options(path, classification ? LabelKind::kBinary : LabelKind::kReal));
  options.public_rows = public_rows;
  return load_with(options);
}

Expected<LoadedFile> DataArguments::load_with(const LoadOptions& options) const {
  if (schema_path.empty() && schema_text.empty()) {
    SOTTO_ASSIGN(LoadedData data, load_table(options));
    return LoadedFile{std::move(data), "row", ""};
  }
  std::string text = schema_text;
  if (!schema_path.empty()) {
    SOTTO_ASSIGN(text, read_text_file(schema_path));
  }
  SOTTO_ASSIGN(const Schema schema,
               Schema::parse(text, schema_path.empty() ? "the model's schema" : schema_path));
  SOTTO_ASSIGN(LoadedData data, read_csv(options.path, schema, options));
  return LoadedFile{std::move(data), unit_of(schema), std::move(text)};
}

Expected<LoadedFile> DataArguments::load_like(const std::string& path,
                                              bool classification,
                                              const TrainingFacts& training) const {
  SOTTO_ASSIGN(LoadOptions options,
               load_options(path, classification ? LabelKind::kBinary : LabelKind::kReal));
  options.public_rows = true;
  options.misfits = Misfits::kRefuse;
  if (schema_path.empty() && schema_text.empty()) {
    options.classes = training.class_names;
    options.dim = resolve_format(options) == Format::kLibsvm ? training.features : 0;
  }
  SOTTO_ASSIGN(LoadedFile file, load_with(options));
  const std::int64_t features = file.table.dim() - (bias ? 1 : 0);
  if (features != training.features)
    return fail(
        ErrorKind::kBadData,
        fmt::format("{} has {} features, but the training data has {}. Use files of the same "
                    "kind.",
                    path,
                    features,
                    training.features));
  return file;
}

Expected<SchemaFacts> DataArguments::schema_facts() const {
  SOTTO_ASSIGN(const Schema schema, Schema::load(schema_path));
  return SchemaFacts{static_cast<std::int64_t>(schema.feature_names().size()) + (bias ? 1 : 0),
                     schema.row_norm_bound(bias),
                     schema.has_units};
}

Expected<void> check_names(const std::vector<std::string>& classes,
                           const std::vector<std::string>& features) {
  for (const auto* names : {&classes, &features})
    for (const std::string& name : *names)
      if (has_control_characters(name))
        return fail(
            ErrorKind::kUsage,
            fmt::format("the name '{}' has a control character. Declare another.", escaped(name)));
  return {};
}

}  // namespace sotto::app
