#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "data_options.hpp"
#include "exit_codes.hpp"
#include "printer.hpp"
#include "sotto/core/file.hpp"
#include "sotto/model/model_json.hpp"
#include "sotto/task/family.hpp"
#include "summary.hpp"
#include "verbs.hpp"

namespace sotto::app {
namespace {

struct Arguments {
  std::string data_path;
  std::string model_path;
  std::string output_path;
  DataArguments data;
  bool probabilities = false;
  bool json = false;
};

/// One line per row: the predicted class, or the number; with --proba the probabilities.
std::string prediction_lines(const Family& family,
                             const std::vector<double>& outputs,
                             bool probabilities) {
  const auto width = static_cast<std::size_t>(family.width());
  std::string lines;
  for (std::size_t begin = 0; begin < outputs.size(); begin += width) {
    const std::span<const double> row(outputs.data() + begin, width);
    lines += probabilities ? fmt::format("{}", fmt::join(family.probabilities(row), " "))
                           : family.prediction(row);
    lines += '\n';
  }
  return lines;
}

Expected<int> predict(const Arguments& arguments) {
  SOTTO_TRY(check_writable(arguments.output_path, StreamTargets::kAllowed));
  SOTTO_ASSIGN(const Model model, load_model(arguments.model_path));
  SOTTO_ASSIGN(const auto family, family_of(model));
  if (arguments.probabilities) SOTTO_TRY(family->check_probabilities());
  SOTTO_ASSIGN(LoadOptions options, arguments.data.load_options(arguments.data_path));
  options.persons = false;  // a line per row, in the file's order
  SOTTO_ASSIGN(const Dataset rows, family->read(std::move(options)));
  SOTTO_ASSIGN(const auto outputs, family->outputs(rows.table, model.w));
  SOTTO_TRY(write_file_atomically(arguments.output_path,
                                  prediction_lines(*family, outputs, arguments.probabilities),
                                  FileAccess::kOwner,
                                  StreamTargets::kAllowed));
  if (const auto known = family->check_evaluation(); !known) {
    say("note: how good the predictions are is not told: {}\n", known.error().message);
    return kSuccess;
  }
  SOTTO_ASSIGN(const Metrics metrics, family->evaluate(rows.table, model.w, outputs));
  if (arguments.json)
    print_json(to_json(metrics));
  else
    print_metrics(metrics, model.class_names, "predict");
  return kSuccess;
}

}  // namespace

Action add_predict(Verb& app) {
  auto* verb =
      app.add_subcommand("predict", "apply a model to rows; accuracy, AUC and confusion table");
  auto arguments = std::make_shared<Arguments>();
  arguments->data
      .add_rows(*verb, "DATA", arguments->data_path, "rows in the format of the training data")
      .required();
  verb->add_input("MODEL", arguments->model_path, "a model that `train` wrote").required();
  verb->add_output(
          "OUTPUT", arguments->output_path, "predictions, one per line, in the order of the rows")
      .required();
  verb->add_flag("--proba",
                 arguments->probabilities,
                 "write probabilities of the second class instead of classes");
  verb->add_input("--schema", arguments->data.schema_path, "instead of the schema inside the model")
      .group("Data");
  verb->add_word(
          "--format", arguments->data.format, "auto, libsvm, csv, npy, idx, cifar10 or cifar100")
      .show_default()
      .group("Data");
  arguments->data.add_limits(*verb);
  verb->add_flag("--json", arguments->json, "print the metrics as one object");
  verb->footer(
      "\nThe metrics are exact: use rows that are public, or that you may look at anyway.");
  return [arguments] { return predict(*arguments); };
}

}  // namespace sotto::app
