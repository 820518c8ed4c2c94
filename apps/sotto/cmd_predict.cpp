#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "data_options.hpp"
#include "exit_codes.hpp"
#include "network_run.hpp"
#include "printer.hpp"
#include "sotto/core/file.hpp"
#include "sotto/model/metrics.hpp"
#include "sotto/model/model.hpp"
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

/// One line a row: the predicted class, or the value; with --proba the probability of the second
/// class.
std::string prediction_lines(const Model& model,
                             const std::vector<double>& values,
                             bool classification,
                             bool probabilities) {
  std::string lines;
  for (const double value : values) {
    if (!classification)
      lines += fmt::format("{}\n", prediction(model.loss, value));
    else if (probabilities)
      lines += fmt::format("{}\n", 1 / (1 + std::exp(-value)));
    else
      lines += model.class_names.size() == 2 ? model.class_names[value > 0 ? 1 : 0] + "\n"
                                             : (value > 0 ? "1\n" : "-1\n");
  }
  return lines;
}

Expected<int> predict(Arguments arguments) {
  SOTTO_TRY(check_writable(arguments.output_path, StreamTargets::kAllowed));
  SOTTO_ASSIGN(const Model model, load_model(arguments.model_path));
  if (!model.network.empty())
    return predict_network({model,
                            arguments.data,
                            arguments.data_path,
                            arguments.output_path,
                            arguments.probabilities,
                            arguments.json});
  const bool classification = loss_info(model.loss).classification;
  if (arguments.probabilities && model.loss.kind != LossKind::kLogistic)
    return fail(ErrorKind::kUsage,
                fmt::format("--proba needs a logistic model, but this one has the loss {}.",
                            to_string(model.loss)));
  DataArguments& data = arguments.data;
  data.bias = model.bias;
  data.row_norm = model.row_norm;
  if (data.schema_path.empty()) data.schema_text = model.schema;
  data.persons = false;  // a line per row, in the file's order

  const std::int64_t features = model.w.size() - (model.bias ? 1 : 0);
  SOTTO_ASSIGN(const LoadedFile file,
               data.load_like(arguments.data_path, classification, {features, model.class_names}));
  const std::vector<double> values = scores(file.table, model.w);
  SOTTO_TRY(write_file_atomically(
      arguments.output_path,
      prediction_lines(model, values, classification, arguments.probabilities),
      FileAccess::kOwner,
      StreamTargets::kAllowed));

  SOTTO_ASSIGN(Regularizer regularizer, Regularizer::parse(model.regularizer));
  if (model.bias) regularizer = regularizer.on_first(features);
  const Metrics metrics = evaluate(file.table, model.w, model.loss, regularizer.value(model.w));
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
      ->required();
  verb->add_input("MODEL", arguments->model_path, "a model that `train` wrote")->required();
  verb->add_output(
          "OUTPUT", arguments->output_path, "predictions, one per line, in the order of the rows")
      ->required();
  verb->add_flag("--proba",
                 arguments->probabilities,
                 "write probabilities of the second class instead of classes");
  verb->add_input("--schema", arguments->data.schema_path, "instead of the schema inside the model")
      ->group("Data");
  verb->add_word(
          "--format", arguments->data.format, "auto, libsvm, csv, npy, idx, cifar10 or cifar100")
      ->capture_default_str()
      ->group("Data");
  arguments->data.add_limits(*verb);
  verb->add_flag("--json", arguments->json, "print the metrics as one object");
  verb->footer(
      "\nThe metrics are exact: use rows that are public, or that you may look at anyway.");
  return [arguments] { return predict(*arguments); };
}

}  // namespace sotto::app
