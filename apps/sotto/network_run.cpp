#include "network_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "exit_codes.hpp"
#include "printer.hpp"
#include "progress.hpp"
#include "public_test.hpp"
#include "run_end.hpp"
#include "sotto/core/digest.hpp"
#include "sotto/core/file.hpp"
#include "sotto/objective/network/engine.hpp"
#include "sotto/objective/network/features.hpp"
#include "sotto/objective/network/transfer.hpp"
#include "sotto/oracle/network_problem.hpp"
#include "sotto/oracle/per_example_sum.hpp"
#include "summary.hpp"

namespace sotto::app {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Each costs a look at all test rows.
constexpr std::int64_t kKeptIterates = 12;

std::string bytes_of(const Vector& values) {
  return {reinterpret_cast<const char*>(values.data()),
          static_cast<std::size_t>(values.size()) * sizeof(double)};
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += name + '\n';
  return text;
}

PublicProblem problem_for(const NetworkRequest& request,
                          const NetworkSpec& spec,
                          const Vector& all,
                          PublicCount n) {
  PublicProblem problem = network_problem(spec, all, n);
  problem.relation = request.relation;
  problem.regularizer = request.regularizer;
  return problem;
}

/// How fast gradients of this network are here, from a moment's work on made-up rows.
Expected<double> examples_a_second(const NetworkSpec& spec, const Vector& all) {
  constexpr std::int64_t kRows = 256;
  const std::int64_t features = spec.input.size();
  std::vector<float> values(static_cast<std::size_t>(kRows * features));
  for (std::size_t k = 0; k < values.size(); ++k)
    values[k] = static_cast<float>(k * 37 % 101) / 101.0F;
  const std::vector<float> labels(kRows, 1.0F);
  const Table table = TableBuilder::dense(kRows, features, values, labels, {});
  SOTTO_ASSIGN(const auto engine, NetworkEngine::make(table, spec, all));
  PerExampleSum sums(*engine);
  const Vector w = trained_part(spec, all);
  Vector gradient;
  double best = kInfinity;
  for (int round = 0; round < 3; ++round) {  // the first warms up
    const auto begin = std::chrono::steady_clock::now();
    sums.clipped_gradients({}, w, 1, gradient);
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return static_cast<double>(kRows) / best;
}

}  // namespace

Expected<int> train_network(NetworkRequest request) {
  if (request.data_path.empty() || request.model_path.empty())
    return fail(ErrorKind::kUsage,
                "train needs a data file and a model file to write: sotto train [options] DATA "
                "MODEL");
  SOTTO_TRY(request.outputs.check());
  SOTTO_TRY(check_writable(request.model_path));
  SOTTO_ASSIGN(const MethodInfo* method, find_method(request.train.method));
  if (method->is_private)
    SOTTO_TRY(check_test_is_not_training(request.data, request.data_path, request.test_path));
  SOTTO_ASSIGN(const NamedNetwork named, named_network(request.network, request.regression));
  const auto begin = std::chrono::steady_clock::now();
  const NetworkRows wanted = wanted_rows(request.network, named, request.public_rows);
  SOTTO_ASSIGN(const LoadedData data, load_network_rows(request.data, request.data_path, wanted));
  const double load_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const bool talks = !request.quiet && !request.json;
  if (talks)
    for (const auto* notes : {&named.notes, &data.notes})
      for (const auto& note : *notes) say("note: {}\n", note);
  SOTTO_TRY(check_names(data.class_names, data.feature_names));
  SOTTO_ASSIGN(const NetworkSpec spec,
               fitted_network(request.network,
                              named,
                              data.table.dim(),
                              static_cast<std::int64_t>(data.class_names.size())));
  SOTTO_TRY(check_classes(spec, std::ssize(data.class_names)));
  SOTTO_ASSIGN(const StartWeights start, start_weights(spec, request.network));
  const Vector& all = start.all;
  if (!start.warning.empty() && !request.quiet) say("warning: {}\n", start.warning);
  std::optional<LoadedData> test;
  if (!request.test_path.empty()) {
    SOTTO_ASSIGN(test,
                 load_network_rows(request.data,
                                   request.test_path,
                                   {named.loss, data.table.dim(), data.class_names, true, 0}));
  }
  SOTTO_ASSIGN(auto engine, NetworkEngine::make(data.table, spec, all));

  SOTTO_ASSIGN(const PublicCount n,
               public_units(request.public_n, data.table.units(), request.relation));
  const PublicProblem problem = problem_for(request, spec, all, n);
  request.train.journal_path = request.model_path + ".journal";
  SOTTO_ASSIGN(request.train.checkpoint, request.checkpoint.options(request.data_path));
  for (const auto& [name, text] : {std::pair{"the network", to_text(spec)},
                                   std::pair{"the weights that it starts with", bytes_of(all)},
                                   std::pair{"the classes", joined(data.class_names)}})
    request.train.checkpoint.facts.emplace_back(name, sha256(text));
  SOTTO_ASSIGN(PreparedRun prepared, prepare(problem, request.train));
  SOTTO_ASSIGN(const bool finished, has_finished(prepared, request.train, request.model_path));
  if (finished) return tell_finished(prepared, request.model_path);
  SOTTO_ASSIGN(request.train.known_lines,
               known_lines(request.model_path, request.outputs.record_path()));
  if (talks) print_prepared(prepared, problem, request.train);
  if (talks) request.checkpoint.tell_resumed(prepared);
  if (!request.quiet)
    for (const auto& warning : prepared.warnings) say("warning: {}\n", warning);

  // Only now, since it may take a while: what was wrong with the request has been said.
  const bool freezes = std::any_of(
      spec.layers.begin(), spec.layers.end(), [](const auto& layer) { return layer.frozen; });
  if (freezes && talks) say("computing the frozen layers' features, once\n");
  SOTTO_ASSIGN(const auto features, frozen_features(data.table, spec, all));
  if (features) {
    SOTTO_ASSIGN(engine, NetworkEngine::make(features->table, features->rest));
  }
  Model model;
  model.method = prepared.method->name;
  model.regularizer = request.regularizer.to_string();
  model.network = to_text(spec);
  model.w = all;
  model.class_names = data.class_names;
  model.feature_names = data.feature_names;
  Reserve reserve(memory_to_write(model));
  const std::size_t told = prepared.warnings.size();
  Progress progress(
      prepared.method->name, !talks, price_of(prepared), request.train.seed.has_value());
  KeptIterates iterates(
      progress, problem.dimension, test && request.outputs.wanted(), kKeptIterates);
  SOTTO_ASSIGN(TrainResult result,
               train(*engine, problem, request.train, std::move(prepared), iterates));
  RunRecord& record = result.record;
  record.privacy.test_declared_public = test.has_value();
  if (!result.interrupted) {
    // Passed on as a reference, which asks for no memory.
    const auto complete = [&]() -> const Model& {
      put_trained_part(spec, result.w, model.w);
      model.privacy = record.privacy;
      return model;
    };
    SOTTO_TRY(keep_model(std::cref(complete), request.model_path, result, reserve));
  }
  progress.finish();
  record.loss = "network";
  record.regularizer = model.regularizer;
  record.network = model.network;
  record.class_names = data.class_names;
  if (result.interrupted) {
    request.checkpoint.tell_interrupted(record, request.train.journal_path);
    return kInterrupted;
  }
  if (request.train.unsafe_diagnostics) print_timings(load_seconds, result);
  if (!request.quiet)
    for (std::size_t k = told; k < record.warnings.size(); ++k)
      say("warning: {}\n", record.warnings[k]);
  if (test) {
    SOTTO_ASSIGN(record.network_test, evaluate_network(test->table, spec, model.w));
    for (const auto& [step, passes, w] : iterates.take()) {
      SOTTO_ASSIGN(const ClassMetrics metrics,
                   evaluate_network(test->table, spec, with_trained_part(spec, all, w)));
      record.test_curve.push_back({step, passes, metrics.loss + problem.regularizer.value(w), {}});
      if (!metrics.confusion.empty()) record.test_curve.back().accuracy = metrics.accuracy;
    }
  }
  SOTTO_TRY(finish_run(request.outputs, result, request.model_path));
  if (request.json) {
    nlohmann::json json = to_json(record);
    for (const char* curve : {"trace", "spending", "test_curve"}) json.erase(curve);
    print_json(json);
    return kSuccess;
  }
  tell("{}\n", brief(record));
  if (record.network_test) print_metrics(*record.network_test, model.class_names, "test");
  if (record.diagnostics)
    tell("NOT private: training objective {:.6f}, gradient norm {:.6f} (--unsafe-diagnostics)\n",
         record.diagnostics->objective,
         record.diagnostics->gradient_norm);
  if (!request.quiet) say("model written to {}\n", request.model_path);
  return kSuccess;
}

Expected<int> dry_run_network(const NetworkRequest& request) {
  SOTTO_ASSIGN(const NamedNetwork named, named_network(request.network, request.regression));
  if (!request.quiet && !request.json)
    for (const auto& note : named.notes) say("note: {}\n", note);
  std::int64_t n = request.public_n;
  SOTTO_ASSIGN(const std::vector<std::string> declared, request.data.class_list());
  const std::int64_t known = known_features(request.network, named);
  std::int64_t features = known > 0 ? known : request.data.dim;
  std::int64_t classes = named.loss == NetworkLoss::kSquared ? 0
                         : !declared.empty()                 ? std::ssize(declared)
                                                             : 10;  // as in the sets of images
  const bool classes_known = known > 0 || named.loss == NetworkLoss::kSquared || !declared.empty();
  if (n < 1 || features < 1 || !classes_known) {
    if (request.data_path.empty())
      return fail(ErrorKind::kUsage,
                  "this --dry-run needs DATA, or else --public-n N, and for a network that fits "
                  "itself to the rows --dim D and --classes.");
    SOTTO_ASSIGN(const LoadedData data,
                 load_network_rows(request.data,
                                   request.data_path,
                                   wanted_rows(request.network, named, request.public_rows)));
    if (n < 1) {
      SOTTO_ASSIGN(n, counted_as_public(data.table.units(), request.relation));
    }
    features = data.table.dim();
    classes = std::ssize(data.class_names);
    SOTTO_TRY(known > 0 && named.from_file ? check_classes(*named.from_file, classes)
                                           : Expected<void>());
  }
  SOTTO_ASSIGN(const NetworkSpec spec, fitted_network(request.network, named, features, classes));
  const Vector all = initial_weights(spec, request.network.initial_seed);
  const PublicProblem problem = problem_for(request, spec, all, n);
  SOTTO_ASSIGN(const PreparedRun run, prepare(problem, request.train));
  SOTTO_ASSIGN(const double rate, examples_a_second(spec, all));
  print_plan(run, problem, request.train, request.json, rate);
  return kSuccess;
}

Expected<int> predict_network(const NetworkPrediction& request) {
  const Model& model = request.model;
  SOTTO_ASSIGN(const NetworkSpec spec, parse_network(model.network, "the model's network"));
  if (model.w.size() != parameter_count(spec))
    return fail(ErrorKind::kBadData, "the model's weights don't fit its network. Train again.");
  if (request.probabilities && spec.loss == NetworkLoss::kSquared)
    return fail(ErrorKind::kUsage, "--proba needs classes, but this network predicts numbers.");
  SOTTO_ASSIGN(const LoadedData rows,
               load_network_rows(request.data,
                                 request.data_path,
                                 {spec.loss, spec.input.size(), model.class_names, true, 0}));
  SOTTO_ASSIGN(const auto outputs, network_outputs(rows.table, spec, model.w));
  const auto count = static_cast<std::size_t>(rows.table.rows());  // public rows: to predict
  const std::size_t width = outputs.size() / count;
  std::string lines;
  for (std::size_t i = 0; i < count; ++i) {
    const std::span<const double> z(outputs.data() + i * width, width);
    if (spec.loss == NetworkLoss::kSquared) {
      lines += fmt::format("{}\n", z[0]);
    } else if (!request.probabilities) {
      const auto guess = static_cast<std::size_t>(predicted_class(spec, z));
      lines +=
          (guess < model.class_names.size() ? model.class_names[guess] : std::to_string(guess)) +
          "\n";
    } else if (spec.loss == NetworkLoss::kLogistic) {
      lines += fmt::format("{}\n", 1 / (1 + std::exp(-z[0])));
    } else {
      const double largest = *std::max_element(z.begin(), z.end());
      double sum = 0;
      for (const double each : z) sum += std::exp(each - largest);
      for (std::size_t c = 0; c < width; ++c)
        lines += fmt::format("{}{}", c ? " " : "", std::exp(z[c] - largest) / sum);
      lines += "\n";
    }
  }
  SOTTO_TRY(write_file_atomically(
      request.output_path, lines, FileAccess::kOwner, StreamTargets::kAllowed));
  SOTTO_ASSIGN(const ClassMetrics metrics, evaluate_network(rows.table, spec, model.w));
  if (request.json)
    print_json(to_json(metrics));
  else
    print_metrics(metrics, model.class_names, "predict");
  return kSuccess;
}

void print_metrics(const ClassMetrics& metrics,
                   const std::vector<std::string>& class_names,
                   const std::string& what) {
  if (metrics.confusion.empty()) {
    tell(
        "{}: RMSE {:.6g}, loss {:.6g} ({} rows)\n", what, metrics.rmse, metrics.loss, metrics.rows);
    return;
  }
  std::int64_t right = 0;
  for (std::size_t c = 0; c < metrics.confusion.size(); ++c) right += metrics.confusion[c][c];
  tell("Accuracy = {:.2f}% ({}/{})\n", 100 * metrics.accuracy, right, metrics.rows);
  tell("{}: loss {:.6f}\n", what, metrics.loss);
  constexpr std::size_t kMostClasses = 20;  // a table of more would not fit a screen
  if (metrics.confusion.size() > kMostClasses) return;
  const auto name = [&](std::size_t c) {
    return c < class_names.size() ? class_names[c] : std::to_string(c);
  };
  std::size_t width = 6;
  for (std::size_t c = 0; c < metrics.confusion.size(); ++c)
    width = std::max(width, name(c).size() + 1);
  tell("{:<{}}", "truth", std::max<std::size_t>(width, 7));
  for (std::size_t c = 0; c < metrics.confusion.size(); ++c) tell("{:>{}}", name(c), width);
  tell("   (predicted)\n");
  for (std::size_t t = 0; t < metrics.confusion.size(); ++t) {
    tell("{:<{}}", name(t), std::max<std::size_t>(width, 7));
    for (const std::int64_t count : metrics.confusion[t]) tell("{:>{}}", count, width);
    tell("\n");
  }
}

}  // namespace sotto::app
