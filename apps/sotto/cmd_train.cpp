#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint_options.hpp"
#include "data_options.hpp"
#include "exit_codes.hpp"
#include "method_options.hpp"
#include "network_run.hpp"
#include "printer.hpp"
#include "progress.hpp"
#include "public_test.hpp"
#include "run_end.hpp"
#include "run_outputs.hpp"
#include "sotto/core/digest.hpp"
#include "sotto/core/directed_text.hpp"
#include "sotto/core/file.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/report/live_view.hpp"
#include "sotto/training/measures.hpp"
#include "sotto/training/train.hpp"
#include "summary.hpp"
#include "verbs.hpp"

namespace sotto::app {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Arguments {
  std::string data_path;
  std::string model_path;
  DataArguments data;
  MethodArguments method;
  NetworkArguments network;
  std::string loss = "logistic";
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
  LossSpec loss;
  Regularizer regularizer;
  ConstraintPtr constraint;
  Relation relation = Relation::kZeroOut;
  TrainOptions train;
};

Expected<Request> read_request(const Arguments& arguments) {
  Request request;
  SOTTO_ASSIGN(request.method, find_method(arguments.method.name));
  SOTTO_ASSIGN(request.loss, parse_loss(arguments.loss));
  SOTTO_ASSIGN(request.regularizer, Regularizer::parse(arguments.regularizer));
  SOTTO_ASSIGN(request.constraint, parse_constraint(arguments.constraint));
  if (!(arguments.row_max >= 0 && std::isfinite(arguments.row_max)))
    return fail(ErrorKind::kUsage,
                fmt::format("--row-max must be finite and > 0, but is {}.", arguments.row_max));
  SOTTO_ASSIGN(request.relation, parse_relation(arguments.neighbours));
  if (request.method->is_private && !arguments.delta)
    return fail(
        ErrorKind::kUsage,
        "train needs --delta. It has no default: choose it well below 1/n, for example 1e-6.");
  if (request.relation == Relation::kAddRemove && arguments.public_n < 1)
    return fail(
        ErrorKind::kUsage,
        "under --neighbours add-remove the number of records is private, so a public number "
        "must be declared: --public-n N, about the size you would tell anybody.");
  if (request.relation != Relation::kAddRemove && arguments.public_n != 0 && !arguments.dry_run)
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

PublicProblem make_problem(const Request& request,
                           const Arguments& arguments,
                           PublicCount n,
                           std::int64_t dimension,
                           double row_norm) {
  PublicProblem problem;
  problem.n = n;
  problem.dimension = dimension;
  problem.row_norm = row_norm > 0 ? row_norm : kInfinity;
  problem.loss = loss_info(request.loss);
  // An intercept only shifts the decision; it is not shrunk.
  problem.regularizer =
      arguments.data.bias ? request.regularizer.on_first(dimension - 1) : request.regularizer;
  problem.relation = request.relation;
  problem.constraint = request.constraint;
  // The intercept's entry is 1.
  if (arguments.row_max > 0)
    problem.row_max = arguments.data.bias ? std::max(arguments.row_max, 1.0) : arguments.row_max;
  return problem;
}

/// Without a declared bound on the rows, every setting that would follow from it must be given.
Expected<void> require_row_norm(const PublicProblem& problem, const Request& request) {
  if (std::isfinite(problem.row_norm) || !request.method->is_private) return {};
  const auto given = [&](std::string_view name) {
    return std::any_of(request.train.options.begin(),
                       request.train.options.end(),
                       [&](const auto& o) { return o.first == name; });
  };
  if (given("clip_radius") && given("step_size")) return {};
  if (request.method->constraints && std::isfinite(problem.row_max)) return {};
  return fail(
      ErrorKind::kUsage,
      "no public bound on the norm of a row is declared, and one taken from the rows would leak. "
      "Give --row-norm R (longer rows are scaled down to it; for 0/1 data with k ones a row, R = "
      "sqrt(k)), a --schema with bounds, or both --clip-radius and --step-size; dp-pgd, dp-pmd, "
      "dp-fw-l2 "
      "and dp-fw-l1 also take --row-max.");
}

Expected<NetworkRequest> network_request(const Request& request, const Arguments& arguments) {
  if (request.constraint || arguments.row_max > 0)
    return fail(ErrorKind::kUsage,
                "--constraint and --row-max are for linear models: a network's weights are not "
                "kept in a set. --regularizer l2:LAMBDA keeps them small.");
  NetworkRequest network;
  network.network = arguments.network;
  network.data = arguments.data;
  network.data_path = arguments.data_path;
  network.model_path = arguments.model_path;
  network.test_path = arguments.test_path;
  network.outputs = arguments.outputs;
  network.checkpoint = arguments.checkpoint;
  SOTTO_ASSIGN(network.regression, predicts_numbers(arguments.loss));
  network.regularizer = request.regularizer;
  network.relation = request.relation;
  network.public_n = arguments.public_n;
  network.public_rows = !request.method->is_private;
  network.train = request.train;
  network.json = arguments.json;
  network.quiet = arguments.quiet;
  return network;
}

Expected<int> dry_run(const Request& request, const Arguments& arguments) {
  std::int64_t dimension = arguments.data.dim + (arguments.data.bias ? 1 : 0);
  double row_norm = arguments.data.row_norm;
  bool has_units = false;
  if (!arguments.data.schema_path.empty()) {
    SOTTO_ASSIGN(const SchemaFacts facts, arguments.data.schema_facts());
    dimension = facts.dimension;
    has_units = facts.has_units;
    if (row_norm == 0) row_norm = facts.row_norm_bound;
  }
  if (arguments.public_n < 1 || dimension < 1)
    return fail(
        ErrorKind::kUsage,
        "--dry-run does not open the rows, so it needs --public-n N and --dim D (or a --schema).");
  PublicProblem problem = make_problem(request, arguments, arguments.public_n, dimension, row_norm);
  problem.linear_rows = !has_units;
  SOTTO_TRY(require_row_norm(problem, request));
  SOTTO_ASSIGN(const PreparedRun run, prepare(problem, request.train));
  print_plan(run, problem, request.train, arguments.json, {});
  return kSuccess;
}

/// All of it but what the run will give.
Model model_of(const Request& request, const Arguments& arguments, const LoadedFile& data) {
  Model model;
  model.method = request.method->name;
  model.loss = request.loss;
  model.regularizer = request.regularizer.to_string();
  model.bias = arguments.data.bias;
  model.row_norm = arguments.data.row_norm;
  model.class_names = data.class_names;
  model.feature_names = data.feature_names;
  model.schema = data.schema_text;
  return model;
}

Expected<int> run_train(const Arguments& arguments) {
  set_thread_count(arguments.threads);
  SOTTO_ASSIGN(Request request, read_request(arguments));
  const bool network = !arguments.network.model.empty();
  if (network) {
    SOTTO_ASSIGN(NetworkRequest asked, network_request(request, arguments));
    return arguments.dry_run ? dry_run_network(asked) : train_network(std::move(asked));
  }
  if (arguments.dry_run) return dry_run(request, arguments);
  if (arguments.data_path.empty() || arguments.model_path.empty())
    return fail(
        ErrorKind::kUsage,
        "train needs a data file and a model file to write: sotto train [options] DATA MODEL");
  SOTTO_TRY(arguments.outputs.check());
  SOTTO_TRY(check_writable(arguments.model_path));
  if (request.method->is_private)
    SOTTO_TRY(check_test_is_not_training(arguments.data, arguments.data_path, arguments.test_path));

  const auto begin = std::chrono::steady_clock::now();
  const bool classification = loss_info(request.loss).classification;
  SOTTO_ASSIGN(
      const LoadedFile data,
      arguments.data.load(arguments.data_path, classification, !request.method->is_private));
  const double load_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!arguments.quiet && !arguments.json)
    for (const auto& note : data.notes) say("note: {}\n", note);

  SOTTO_TRY(check_names(data.class_names, data.feature_names));
  double row_norm = arguments.data.row_norm > 0 ? arguments.data.row_norm : data.row_norm_bound;
  if (row_norm == 0 && !request.method->is_private) {
    const auto norms = data.table.norms();  // not private: look
    row_norm = std::max(1e-300, *std::max_element(norms.begin(), norms.end()));
  }
  SOTTO_ASSIGN(const PublicCount n,
               public_units(arguments.public_n, data.table.units(), request.relation));
  PublicProblem problem = make_problem(request, arguments, n, data.table.dim(), row_norm);
  problem.linear_rows = !data.table.has_units();
  SOTTO_TRY(require_row_norm(problem, request));
  request.train.unit = data.unit;
  request.train.journal_path = arguments.model_path + ".journal";
  SOTTO_ASSIGN(request.train.checkpoint, arguments.checkpoint.options(arguments.data_path));
  request.train.checkpoint.facts.emplace_back("--loss", to_string(request.loss));
  request.train.checkpoint.facts.emplace_back("--bias", arguments.data.bias ? "given" : "none");
  request.train.checkpoint.facts.emplace_back("the schema", sha256(data.schema_text));
  request.train.checkpoint.facts.emplace_back("the classes",
                                              fmt::format("{}", fmt::join(data.class_names, ", ")));
  SOTTO_ASSIGN(PreparedRun prepared, prepare(problem, request.train));
  const bool talks = !arguments.quiet && !arguments.json;
  SOTTO_ASSIGN(const bool finished, has_finished(prepared, request.train, arguments.model_path));
  if (finished) return tell_finished(prepared, arguments.model_path);
  SOTTO_ASSIGN(request.train.known_lines,
               known_lines(arguments.model_path, arguments.outputs.record_path()));
  if (talks) print_prepared(prepared, problem, request.train);
  if (talks) arguments.checkpoint.tell_resumed(prepared);
  if (!arguments.quiet)
    for (const auto& warning : prepared.warnings) say("warning: {}\n", warning);

  // Public test rows are read before anything is spent: a wrong path must not cost budget.
  std::optional<LoadedFile> test;
  if (!arguments.test_path.empty()) {
    SOTTO_ASSIGN(test,
                 arguments.data.load_like(
                     arguments.test_path,
                     classification,
                     {data.table.dim() - (arguments.data.bias ? 1 : 0), data.class_names}));
  }

  Model model = model_of(request, arguments, data);
  Reserve reserve(memory_to_write(model));
  const GlmEngine engine(data.table, request.loss);
  const std::size_t told = prepared.warnings.size();
  Progress progress(
      request.method->name, !talks, price_of(prepared), request.train.seed.has_value());
  KeptIterates iterates(progress, problem.dimension, test && arguments.outputs.wanted());
  SOTTO_ASSIGN(TrainResult result,
               train(engine, problem, request.train, std::move(prepared), iterates));
  RunRecord& record = result.record;
  record.privacy.test_declared_public = test.has_value();
  if (!result.interrupted) {
    // Passed on as a reference, which asks for no memory.
    const auto complete = [&]() -> const Model& {
      if (result.w.size() > 0) model.w = std::move(result.w);
      model.privacy = record.privacy;
      model.certificate = record.certificate;
      return model;
    };
    SOTTO_TRY(keep_model(std::cref(complete), arguments.model_path, result, reserve));
  }
  progress.finish();
  record.loss = to_string(request.loss);
  record.regularizer = request.regularizer.to_string();
  record.constraint = arguments.constraint;
  record.class_names = data.class_names;
  if (result.interrupted) {
    arguments.checkpoint.tell_interrupted(record, request.train.journal_path);
    return kInterrupted;
  }

  if (arguments.unsafe_diagnostics) print_timings(load_seconds, result);
  if (!arguments.quiet)
    for (std::size_t k = told; k < record.warnings.size(); ++k)
      say("warning: {}\n", record.warnings[k]);
  if (test) {
    record.test = evaluate(test->table, model.w, request.loss, problem.regularizer.value(model.w));
    for (const auto& [step, passes, w] : iterates.take()) {
      const Metrics metrics = evaluate(test->table, w, request.loss, problem.regularizer.value(w));
      record.test_curve.push_back({step, passes, metrics.objective, {}});
      if (classification) record.test_curve.back().accuracy = metrics.accuracy;
    }
    const GlmEngine held_out(test->table, request.loss);
    if (held_out.units() >= 2)  // public rows: the test set
      record.population = population_gradient(held_out, problem, model.w);
  }

  SOTTO_TRY(finish_run(arguments.outputs, result, arguments.model_path));

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
  }
  return kSuccess;
}

}  // namespace

Action add_train(Verb& app) {
  auto* verb = app.add_subcommand("train", "train a model with differential privacy");
  auto a = std::make_shared<Arguments>();
  verb->add_input("--config",
                  a->config,
                  "a TOML file with the same options, e.g. epsilon = 1; the command line wins");
  a->data.add_rows(*verb,
                   "DATA",
                   a->data_path,
                   "training data: LIBSVM, CSV with --schema, or .npy with --labels; also .gz");
  verb->add_output("MODEL", a->model_path, "model file to write (JSON)");
  verb->writes("the journal", [a = a.get()]() -> std::vector<std::string> {
    if (a->model_path.empty()) return {};
    return {a->model_path + ".journal"};
  });
  verb->add_option("--epsilon", a->epsilon, "privacy budget; no default")->group("Privacy");
  verb->add_option("--delta", a->delta, "privacy budget, well below 1/n; no default")
      ->group("Privacy");
  verb->add_option("--noise-multiplier",
                   a->noise_multiplier,
                   "instead of --epsilon: noise / sensitivity a step")
      ->group("Privacy");
  verb->add_word("--neighbours,--neighbors",
                 a->neighbours,
                 "zero-out, replace-one, or add-remove (with --public-n)")
      ->capture_default_str()
      ->group("Privacy");
  verb->add_option("--public-n", a->public_n, "add-remove: the declared number of units")
      ->group("Privacy");
  verb->add_word("--accountant",
                 a->accountant,
                 "gaussian, zcdp, rdp or pld; default: the tightest that applies")
      ->group("Privacy");
  verb->add_input("--journal-key",
                  a->journal_key,
                  "a file of secret bytes: seals the journal, so that nobody without it can change "
                  "a line unseen")
      ->group("Privacy");
  a->method.add_to(*verb);
  verb->add_word("--loss",
                 a->loss,
                 "logistic, sigmoid, squared, huber[:THRESHOLD] or phase-retrieval[:LABEL_BOUND]")
      ->capture_default_str()
      ->group("Model");
  verb->add_word(
          "--regularizer",
          a->regularizer,
          "none, l2:LAMBDA, l1:LAMBDA, nonconvex:LAMBDA, elastic:LAMBDA,MU or group-l1:LAMBDA,SIZE")
      ->capture_default_str()
      ->group("Model");
  verb->reads("--constraint", [a = a.get()] { return constraint_files(a->constraint); });
  verb->add_word("--constraint",
                 a->constraint,
                 "keep the weights in l2:R, l1:R, simplex, box:LOW,HIGH, linf:R, group-l1:R,SIZE "
                 "or polytope:FILE (methods dp-pgd, dp-pmd, dp-fw-l2, dp-fw-l1)")
      ->capture_default_str()
      ->group("Model");
  verb->add_option("--row-max",
                   a->row_max,
                   "declared bound on the absolute entries of a row, for default steps and clips")
      ->group("Model");
  a->network.add_to(*verb);
  a->data.add_to(*verb);
  a->data.add_rows(*verb,
                   "--test",
                   a->test_path,
                   "a PUBLIC test set, never the training data: its metrics are exact");
  a->outputs.add_to(*verb);
  a->checkpoint.add_to(*verb);
  verb->add_option(
      "--seed", a->seed, "reproducible randomness for tests; marks the run as insecure");
  verb->add_flag(
      "--unsafe-diagnostics",
      a->unsafe_diagnostics,
      "also print true training values and running times; marks the run: they are not private");
  verb->add_option("--threads", a->threads, "0: all cores; the result does not depend on it")
      ->capture_default_str()
      ->check(CLI::Range(0, 1024));
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

Every charge is written to MODEL.journal before its answer exists.

A long run that may be interrupted (docs/guide/checkpoints.md): the same command starts it and goes on with it.
^C ends it after the current step with exit code 130 and its state in the file.

  sotto train --checkpoint run.ckpt --resume ... DATA MODEL)");
  return [a] { return run_train(*a); };
}

}  // namespace sotto::app
