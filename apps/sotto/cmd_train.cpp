#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint_options.hpp"
#include "data_options.hpp"
#include "existing_files.hpp"
#include "exit_codes.hpp"
#include "method_options.hpp"
#include "network_arguments.hpp"
#include "printer.hpp"
#include "progress.hpp"
#include "public_test.hpp"
#include "run_end.hpp"
#include "run_outputs.hpp"
#include "sotto/core/file.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/record/record_json.hpp"
#include "sotto/task/task.hpp"
#include "summary.hpp"
#include "verbs.hpp"

namespace sotto::app {
namespace {

struct TrainArguments {
  std::string data_path;
  std::string model_path;
  DataArguments data;
  MethodArguments method;
  NetworkArguments network;
  std::string loss = "logistic";
  std::string class_weights;
  std::string regularizer = "none";
  std::string constraint = "none";
  double row_max = 0;
  std::optional<double> epsilon;
  std::optional<double> delta;
  std::optional<double> noise_multiplier;
  std::string neighbours = "zero-out";
  std::int64_t public_n = 0;
  std::string accountant;
  std::string test_path;
  RunOutputs outputs;
  CheckpointArguments checkpoint;
  ExistingFiles existing;
  std::optional<std::uint64_t> seed;
  bool unsafe_diagnostics = false;
  int threads = 0;
  bool dry_run = false;
  bool json = false;
  bool quiet = false;
  std::string journal_key;
  std::string config;  ///< only for --help: config_file.cpp has replaced it by its content
};

/// All that is known before the rows are opened.
struct Request {
  const MethodInfo* method = nullptr;
  TaskOptions task;
  TrainOptions train;
};

Expected<Request> read_request(const TrainArguments& arguments) {
  Request request;
  SOTTO_ASSIGN(request.method, find_method(arguments.method.name));
  TaskOptions& task = request.task;
  SOTTO_ASSIGN(task.rows, arguments.data.load_options(arguments.data_path));
  SOTTO_ASSIGN(task.network, arguments.network.options());
  SOTTO_TRY(set_loss(task, arguments.loss));
  SOTTO_ASSIGN(task.class_weights, parse_class_weights(arguments.class_weights));
  SOTTO_ASSIGN(task.regularizer, Regularizer::parse(arguments.regularizer));
  task.constraint = arguments.constraint;
  task.row_max = arguments.row_max;
  SOTTO_ASSIGN(task.relation, parse_relation(arguments.neighbours));
  task.public_n = arguments.public_n;
  task.is_private = request.method->is_private;
  if (request.method->is_private && !arguments.delta)
    return fail(
        ErrorKind::kUsage,
        "train needs --delta. It has no default: choose it well below 1/n, for example 1e-6.");
  if (task.relation == Relation::kAddRemove && arguments.public_n < 1)
    return fail(
        ErrorKind::kUsage,
        "under --neighbours add-remove the number of records is private, so a public number "
        "must be declared: --public-n N, about the size you would tell anybody.");
  if (task.relation != Relation::kAddRemove && arguments.public_n != 0 && !arguments.dry_run)
    return fail(
        ErrorKind::kUsage,
        "--public-n goes with --neighbours add-remove (or --dry-run); under the other relations "
        "the number of units is public and counted.");
  TrainOptions& train = request.train;
  train.method = arguments.method.name;
  train.options = arguments.method.given();
  train.delta = arguments.delta.value_or(0);
  train.epsilon = arguments.epsilon;
  train.noise_multiplier = arguments.noise_multiplier;
  train.accountant = arguments.accountant;
  train.seed = arguments.seed;
  train.unsafe_diagnostics = arguments.unsafe_diagnostics;
  SOTTO_ASSIGN(train.journal_key, read_journal_key(arguments.journal_key));
  return request;
}

Expected<int> dry_run(const Request& request, const TrainArguments& arguments) {
  SOTTO_ASSIGN(const Task task, Task::declare(request.task));
  TrainOptions train = request.train;
  describe_to(train, task);
  if (!arguments.quiet && !arguments.json)
    for (const auto& note : task.notes()) say("note: {}\n", note);
  SOTTO_ASSIGN(const PreparedRun run, prepare(task, train));
  SOTTO_ASSIGN(const auto speed, task.family().speed());
  print_plan(run, task.problem(), train, arguments.json, speed);
  return kSuccess;
}

/// How good the model is on public rows, and how good the iterates were on the way to it.
Expected<void> evaluate(const Task& task,
                        const Dataset& test,
                        const Vector& weights,
                        KeptIterates& iterates,
                        RunRecord& record) {
  SOTTO_ASSIGN(record.test, task.evaluate(test, weights));
  for (auto [step, passes, w] : iterates.take()) {
    SOTTO_ASSIGN(const Metrics metrics, task.evaluate(test, task.all_weights(std::move(w))));
    record.test_curve.push_back({step, passes, metrics.objective, {}});
    if (metrics.classification) record.test_curve.back().accuracy = metrics.accuracy;
  }
  record.population = task.population(test, weights);
  return {};
}

Expected<int> run_train(TrainArguments& arguments) {
  set_thread_count(arguments.threads);
  SOTTO_ASSIGN(Request request, read_request(arguments));
  if (arguments.dry_run) return dry_run(request, arguments);
  if (arguments.data_path.empty() || arguments.model_path.empty())
    return fail(
        ErrorKind::kUsage,
        "train needs a data file and a model file to write: sotto train [options] DATA MODEL");
  SOTTO_TRY(arguments.outputs.check());
  SOTTO_TRY(check_writable(arguments.model_path));
  SOTTO_ASSIGN(const WatchedOutput model_output, WatchedOutput::at(arguments.model_path));
  // Where there is a checkpoint, its run is resumed, or the file is refused.
  SOTTO_ASSIGN(const bool begun, arguments.checkpoint.exists());
  if (!begun)
    SOTTO_TRY(arguments.existing.check(
        arguments.model_path, request.train.journal_key, request.method->is_private));
  if (request.method->is_private)
    SOTTO_TRY(check_test_is_not_training(arguments.data, arguments.data_path, arguments.test_path));

  const auto begin = std::chrono::steady_clock::now();
  SOTTO_ASSIGN(Task task, Task::open(request.task));
  const double load_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const bool talks = !arguments.quiet && !arguments.json;
  if (talks)
    for (const auto& note : task.notes()) say("note: {}\n", note);

  const PublicProblem& problem = task.problem();
  TrainOptions& train = request.train;
  SOTTO_ASSIGN(train.checkpoint, arguments.checkpoint.options(arguments.data_path));
  describe_to(train, task);
  train.journal_path = arguments.model_path + ".journal";
  SOTTO_ASSIGN(PreparedRun prepared, prepare(task, train));
  SOTTO_ASSIGN(const bool finished, has_finished(prepared, train, arguments.model_path));
  if (finished) return tell_finished(prepared, arguments.model_path);
  if (begun) SOTTO_TRY(arguments.existing.check_model(arguments.model_path));
  SOTTO_ASSIGN(train.known_lines,
               known_lines(arguments.model_path, arguments.outputs.record_path()));
  train.journal_condition = arguments.existing.journal_condition(arguments.model_path);
  if (talks) print_prepared(prepared, problem, train);
  if (talks) arguments.checkpoint.tell_resumed(prepared);
  if (!arguments.quiet)
    for (const auto& warning : prepared.warnings) say("warning: {}\n", warning);

  // Public test rows are read before anything is spent: a wrong path must not cost budget.
  std::optional<Dataset> test;
  if (!arguments.test_path.empty()) {
    SOTTO_ASSIGN(test, task.read_public(arguments.test_path));
    if (talks)
      for (const auto& note : test->notes) say("note: --test: {}\n", note);
  }
  // Only now, since it may take a while: what was wrong with the request has been said.
  if (task.family().slow() && talks) say("computing the frozen layers' features, once\n");
  SOTTO_TRY(task.engine());

  Model model = task.model(request.method->name);
  Reserve reserve(memory_to_write(model));
  const std::size_t told = prepared.warnings.size();
  Progress progress(request.method->name, !talks, price_of(prepared), train.seed.has_value());
  KeptIterates iterates(progress,
                        problem.dimension,
                        test && arguments.outputs.wanted(),
                        task.family().most_test_points());
  SOTTO_ASSIGN(TrainResult result, run(task, train, std::move(prepared), iterates));
  RunRecord& record = result.record;
  record.privacy.test_declared_public = test.has_value();
  if (!result.interrupted) {
    // Passed on as a reference, which asks for no memory.
    const auto complete = [&]() -> const Model& {
      sotto::complete(model, task, result);
      return model;
    };
    SOTTO_TRY(keep_model(std::cref(complete), arguments.model_path, model_output, result, reserve));
  }
  progress.finish();
  task.family().describe(record);
  if (result.interrupted) {
    arguments.checkpoint.tell_interrupted(record, train.journal_path);
    return kInterrupted;
  }

  if (arguments.unsafe_diagnostics) print_timings(load_seconds, result);
  if (!arguments.quiet)
    for (std::size_t k = told; k < record.warnings.size(); ++k)
      say("warning: {}\n", record.warnings[k]);
  if (test) SOTTO_TRY(evaluate(task, *test, model.w, iterates, record));
  SOTTO_TRY(finish_run(arguments.outputs, result, arguments.model_path));

  if (record.test && !arguments.quiet) warn_of_classes(*record.test, model.class_names);
  if (arguments.json) {
    nlohmann::json json = to_json(record);
    for (const char* curve : {"trace", "spending", "test_curve"}) json.erase(curve);
    print_json(json);
  } else {
    tell("{}\n", brief(record));
    if (record.certificate) tell("{}\n", to_string(*record.certificate));
    if (record.test) print_metrics(*record.test, model.class_names, "test");
    print_measures(record);
    if (!arguments.quiet) say("model written to {}\n", arguments.model_path);
    if (talks && request.method->is_private) tell_spent(arguments.model_path, train.journal_key);
  }
  return kSuccess;
}

}  // namespace

Action add_train(Verb& app) {
  auto* verb = app.add_subcommand("train", "train a model with differential privacy");
  auto a = std::make_shared<TrainArguments>();
  verb->add_input("--config",
                  a->config,
                  "a TOML file with the same options, e.g. epsilon = 1; the command line wins");
  a->data.add_rows(
      *verb,
      "DATA",
      a->data_path,
      "training data: LIBSVM, CSV with --schema, FEATURES.npy,LABELS.npy, IDX or CIFAR; also .gz; "
      "- is standard input, sqlite:FILE#TABLE and postgresql://…#TABLE are databases");
  verb->add_output("MODEL", a->model_path, "model file to write (JSON)");
  verb->writes("the journal", [a = a.get()]() -> std::vector<std::string> {
    if (a->model_path.empty()) return {};
    return {a->model_path + ".journal"};
  });
  verb->add_option("--epsilon", a->epsilon, "privacy budget; no default").group("Privacy");
  verb->add_option("--delta", a->delta, "privacy budget, well below 1/n; no default")
      .group("Privacy");
  verb->add_option("--noise-multiplier",
                   a->noise_multiplier,
                   "instead of --epsilon: noise / sensitivity per step")
      .group("Privacy");
  verb->add_word("--neighbours,--neighbors",
                 a->neighbours,
                 "zero-out, replace-one, or add-remove (with --public-n)")
      .show_default()
      .group("Privacy");
  verb->offer("--neighbours", {"zero-out", "replace-one", "add-remove"});
  verb->offer("--accountant", {"gaussian", "zcdp", "rdp", "pld"});
  verb->add_option("--public-n", a->public_n, "add-remove: the declared number of units")
      .group("Privacy");
  verb->add_word("--accountant",
                 a->accountant,
                 "gaussian, zcdp, rdp or pld; default: the tightest that applies")
      .group("Privacy");
  verb->add_input("--journal-key",
                  a->journal_key,
                  "a file of secret bytes: seals the journal, so that nobody without it can change "
                  "a line unseen")
      .group("Privacy");
  a->method.add_to(*verb);
  verb->add_word("--loss",
                 a->loss,
                 "logistic, sigmoid, multinomial (several classes), squared, huber[:THRESHOLD], "
                 "poisson[:RATE] (counts) or phase-retrieval[:LABEL_BOUND]")
      .show_default()
      .group("Model");
  verb->add_list("--class-weight",
                 a->class_weights,
                 "positive=4 or CLASS=4, also several: a row of the class counts so many times, "
                 "before clipping")
      .type_name("CLASS=W")
      .group("Model");
  verb->add_word(
          "--regularizer",
          a->regularizer,
          "none, l2:LAMBDA, l1:LAMBDA, nonconvex:LAMBDA, elastic:LAMBDA,MU or group-l1:LAMBDA,SIZE")
      .show_default()
      .group("Model");
  verb->reads("--constraint", [a = a.get()] { return constraint_files(a->constraint); });
  verb->add_word("--constraint",
                 a->constraint,
                 "keep the weights in l2:R, l1:R, simplex, box:LOW,HIGH, linf:R, group-l1:R,SIZE "
                 "or polytope:FILE (methods dp-pgd, dp-pmd, dp-fw-l2, dp-fw-l1)")
      .show_default()
      .group("Model");
  verb->add_option("--row-max",
                   a->row_max,
                   "declared bound on the absolute entries of a row, for default steps and clips")
      .group("Model");
  a->network.add_to(*verb);
  a->data.add_to(*verb);
  a->data.add_most_rows(*verb);
  a->data.add_rows(*verb,
                   "--test",
                   a->test_path,
                   "a PUBLIC test set, never the training data: its metrics are exact");
  a->outputs.add_to(*verb);
  a->existing.add_to(*verb);
  a->checkpoint.add_to(*verb);
  verb->add_option(
      "--seed", a->seed, "reproducible randomness for tests; marks the run as insecure");
  verb->add_flag(
      "--unsafe-diagnostics",
      a->unsafe_diagnostics,
      "also print true training values and running times; marks the run: they are not private");
  verb->add_option("--threads", a->threads, "0: all cores; the result does not depend on it")
      .show_default()
      .range(0, 1024);
  verb->add_flag(
      "--dry-run",
      a->dry_run,
      "plan, noise, epsilon and cost, without opening the rows (with --model: only to count them)");
  verb->add_flag("--json", a->json, "print one object for machines");
  verb->add_flag("-q,--quiet", a->quiet, "no notes and no progress");
  verb->footer(R"(
With only --epsilon, --delta and the bound on the rows, every other setting follows from public facts
(number of units, dimension, epsilon, delta, row norm), and `train` says what it picked.

  sotto train --epsilon 1 --delta 1e-6 --dim 123 --row-norm 3.74 --test a9a.t.gz a9a.gz model.json
  sotto train --epsilon 1 --delta 1e-6 --schema adult.toml --report run.html adult.data.gz model.json

Every charge is written to MODEL.journal before its answer exists. A model that exists is kept, and a run that the
journal holds is not paid for a second time: --overwrite replaces a model, and only --again pays again (and replaces).

A long run that may be interrupted (docs/guide/checkpoints.md): the same command starts and resumes it.
^C ends it after the current step with exit code 130 and its state in the file.

  sotto train --checkpoint run.ckpt --resume ... DATA MODEL)");
  return [a] { return run_train(*a); };
}

}  // namespace sotto::app
