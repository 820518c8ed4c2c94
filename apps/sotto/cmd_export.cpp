#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exit_codes.hpp"
#include "name_list.hpp"
#include "printer.hpp"
#include "sotto/core/directed_text.hpp"
#include "sotto/core/file.hpp"
#include "sotto/core/names.hpp"
#include "sotto/model/deploy/c_header.hpp"
#include "sotto/model/deploy/sql.hpp"
#include "sotto/model/model.hpp"
#include "sotto/model/onnx/onnx.hpp"
#include "verbs.hpp"

namespace sotto::app {
namespace {

enum class ExportFormat { kOnnx, kSql, kC };
constexpr Named<ExportFormat> kExportFormats[] = {
    {ExportFormat::kOnnx, "onnx"}, {ExportFormat::kSql, "sql"}, {ExportFormat::kC, "c"}};

struct ExportArguments {
  std::string model_path;
  std::string output_path;
  std::string format;
  bool raw = false;
  std::string name;
  std::string table;
  std::string view;
  std::string keep;
  bool overwrite = false;
};

Expected<ExportFormat> format_of(const ExportArguments& arguments) {
  if (!arguments.format.empty()) {
    if (const auto format = named(arguments.format, kExportFormats)) return *format;
    return fail(ErrorKind::kUsage,
                fmt::format("--format must be onnx, sql or c, but is '{}'.", arguments.format));
  }
  const std::string_view path = arguments.output_path;
  if (is_onnx_path(path)) return ExportFormat::kOnnx;
  if (path.ends_with(".sql")) return ExportFormat::kSql;
  if (path.ends_with(".h")) return ExportFormat::kC;
  return fail(
      ErrorKind::kUsage,
      fmt::format("export writes ONNX, SQL and C, whose files end in .onnx, .sql and .h, but "
                  "the output is '{}'. Name it so, or give --format.",
                  path));
}

Expected<void> check_options(const ExportArguments& arguments, ExportFormat format) {
  const auto only = [](const char* option, const char* format_name) {
    return fail(ErrorKind::kUsage, fmt::format("{} is for --format {}.", option, format_name));
  };
  if (arguments.raw && format != ExportFormat::kOnnx) return only("--raw", "onnx");
  if (!arguments.name.empty() && format != ExportFormat::kC) return only("--name", "c");
  if (format == ExportFormat::kSql) return {};
  if (!arguments.table.empty()) return only("--table", "sql");
  if (!arguments.view.empty()) return only("--view", "sql");
  if (!arguments.keep.empty()) return only("--keep", "sql");
  return {};
}

/// The output's name, without folders and suffix.
std::string stem_of(std::string_view path) {
  if (const auto slash = path.rfind('/'); slash != path.npos) path.remove_prefix(slash + 1);
  return std::string(path.substr(0, path.find('.')));
}

Expected<std::string> text_of(const Model& model,
                              const ExportArguments& arguments,
                              ExportFormat format) {
  switch (format) {
    case ExportFormat::kOnnx:
      return to_onnx(model, arguments.raw ? OnnxInput::kFeatures : OnnxInput::kColumns);
    case ExportFormat::kC:
      return to_c_header(model,
                         arguments.name.empty() ? stem_of(arguments.output_path) : arguments.name);
    default:
      break;
  }
  SqlOptions options;
  if (!arguments.table.empty()) options.table = arguments.table;
  options.view = arguments.view;
  options.keep = names_in(arguments.keep);
  return to_sql(model, options);
}

Expected<void> check_free(const ExportArguments& arguments) {
  SOTTO_ASSIGN(const bool there, file_exists(arguments.output_path));
  if (!there || arguments.overwrite) return {};
  return fail(
      ErrorKind::kUsage,
      fmt::format("{} exists, and is kept. To replace it, give --overwrite; or name another "
                  "path.",
                  arguments.output_path));
}

Expected<int> export_model(const ExportArguments& arguments) {
  SOTTO_ASSIGN(const ExportFormat format, format_of(arguments));
  SOTTO_TRY(check_options(arguments, format));
  SOTTO_TRY(check_free(arguments));
  SOTTO_TRY(check_writable(arguments.output_path));
  SOTTO_ASSIGN(const Model model, load_model(arguments.model_path));
  SOTTO_ASSIGN(const std::string text, text_of(model, arguments, format));
  SOTTO_TRY(write_file_atomically(arguments.output_path, text));
  tell("{} written: {} weights, {}\n",
       arguments.output_path,
       model.w.size(),
       model.privacy.is_private ? fmt::format("epsilon {}{}, delta {} ({})",
                                              text_up(model.privacy.epsilon),
                                              seed_mark(model.privacy),
                                              text_up(model.privacy.delta),
                                              to_string(model.privacy.neighbours))
                                : std::string("not private"));
  return kSuccess;
}

}  // namespace

Action add_export(Verb& app) {
  auto* verb =
      app.add_subcommand("export", "write a model for other programs: ONNX, SQL, or a C header");
  auto a = std::make_shared<ExportArguments>();
  verb->add_input("MODEL", a->model_path, "a model that `train` wrote").required();
  verb->add_output("OUTPUT", a->output_path, "NAME.onnx, NAME.sql or NAME.h").required();
  verb->add_word("--format", a->format, "onnx, sql or c, whatever OUTPUT is called");
  verb->offer("--format", {"onnx", "sql", "c"});
  verb->add_flag("--overwrite", a->overwrite, "replace OUTPUT if it exists");
  verb->add_flag("--raw", a->raw, "ONNX: take encoded features, and give scores alone");
  verb->add_word(
      "--table", a->table, "SQL: where the rows are, NAME or SCHEMA.NAME (default: rows)");
  verb->add_list("--keep", a->keep, "SQL: columns that are copied, with commas between them");
  verb->add_word("--view", a->view, "SQL: make a view of this name");
  verb->add_word("--name", a->name, "C: what all names begin with (default: as OUTPUT)");
  verb->footer(R"(
The file takes a row as it is before the schema, columns by their names, and gives what `predict` gives: the class
with its probabilities, or the number. Encoding is inside: bounds, categories, missing values.

  sotto export model.json risk.onnx                                        one input per column, for onnxruntime
  sotto export model.json risk.sql --table visits --keep id --view risk    for SQLite and PostgreSQL
  sotto export model.json risk.h                                           risk_probabilities(&row, p) in C99

A model without a schema takes its features: as ONNX or C, not as SQL. With --raw ONNX takes them, too: a file that
`train --model` reads back. What a format can't do is refused by the column's or layer's name.

Every file tells the model's privacy statement: in ONNX as metadata (sotto.privacy, sotto.method, sotto.loss,
sotto.class_names), else in comments. Exporting releases nothing new: it is the same model.
More: docs/guide/deploy.md)");
  return [a] { return export_model(*a); };
}

}  // namespace sotto::app
