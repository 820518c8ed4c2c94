#include "data_options.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sotto/core/file.hpp"
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

void DataArguments::add_to(CLI::App& verb) {
  verb.add_option("--schema",
                  schema_path,
                  "TOML file that declares a CSV file's columns and public bounds (docs/data.md)")
      ->group("Data");
  verb.add_option("--format",
                  format,
                  "auto, libsvm, csv, npy, idx, cifar10 or cifar100; pairs are FEATURES,LABELS")
      ->capture_default_str()
      ->group("Data");
  verb.add_option("--dim", dim, "LIBSVM: number of features, a public fact")->group("Data");
  verb.add_option(
          "--row-norm", row_norm, "public bound R on row norms: longer rows are scaled to it")
      ->group("Data");
  verb.add_flag("--bias", bias, "add an intercept (a constant-one feature)")->group("Data");
}

Expected<LoadOptions> DataArguments::load_options(const std::string& path, LabelKind labels) const {
  LoadOptions options;
  options.path = path;
  SOTTO_ASSIGN(options.format, parse_format(format));
  options.schema = schema_path;
  options.dim = dim;
  options.row_norm = row_norm;
  options.bias = bias;
  options.labels = labels;
  SOTTO_TRY(check_options(options));
  return options;
}

Expected<LoadedFile> DataArguments::load(const std::string& path, bool classification) const {
  SOTTO_ASSIGN(const LoadOptions options,
               load_options(path, classification ? LabelKind::kBinary : LabelKind::kReal));
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
  SOTTO_ASSIGN(LoadedData data, read_csv(path, schema, options));
  return LoadedFile{std::move(data), unit_of(schema), std::move(text)};
}

Expected<LoadedFile> DataArguments::load_like(const std::string& path,
                                              bool classification,
                                              const TrainingFacts& training) const {
  LoadedFile file;
  if (!schema_path.empty() || !schema_text.empty()) {
    SOTTO_ASSIGN(file, load(path, classification));
  } else {
    SOTTO_ASSIGN(LoadOptions options,
                 load_options(path, classification ? LabelKind::kBinary : LabelKind::kReal));
    options.dim = training.features;
    options.classes = training.class_names;
    SOTTO_ASSIGN(LoadedData data, load_table(options));
    file = LoadedFile{std::move(data), "row", ""};
  }
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
                     schema.row_norm_bound(bias)};
}

}  // namespace sotto::app
