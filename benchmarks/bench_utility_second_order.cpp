// Second-order methods: the figures of the papers' tables and ours beside them.
//   1. Covertype [GW23]: 5 methods x 2 tolerances x 3 epsilons, 5 public starts each, twice: w_0 ~
//      N(0, I) and w_0 = 0. x: some start's result violates (eps_g, eps_H) in truth, or its run
//      ended without finding a point.
//   2. Covertype and ijcnn1 [WX20]: dp-tr, dp-str, dp-gd-sosp, dp-gd at equal epsilon.
//   3. a9a: gradient norm of dp-newton in at most 8 passes.
//   4. Phase retrieval from its strict saddle: escape rate and passes, first-order methods beside.
// Settings are the methods' defaults, except where a line says so.
//
// Resumable: finished cells are kept in build/utility_second_order.jsonl (or the file named as the
// argument) and not run again.

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>

#include "second_order_support.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/oracle/private_oracle.hpp"
#include "sotto/privacy/ledger.hpp"
#include "sotto/training/train.hpp"

namespace sotto::bench {
namespace {

using nlohmann::json;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

PublicProblem problem_of(const Table& table, double row_norm, Relation relation) {
  PublicProblem problem;
  problem.n = table.units();
  problem.dimension = table.dim();
  problem.row_norm = row_norm;
  problem.relation = relation;
  problem.linear_rows = true;
  problem.regularizer = Regularizer(RegularizerKind::kNonconvex, 1e-3);
  return problem;
}

Expected<TrainResult> run_once(const Engine& engine,
                               const PublicProblem& problem,
                               const std::string& method,
                               const GivenOptions& options,
                               double epsilon,
                               double delta,
                               std::uint64_t seed) {
  TrainOptions train_options;
  train_options.method = method;
  train_options.options = options;
  train_options.epsilon = epsilon;
  train_options.delta = delta;
  train_options.seed = seed;
  NoObserver observer;
  SOTTO_ASSIGN(PreparedRun prepared, prepare(problem, train_options));
  return train(engine, problem, train_options, std::move(prepared), observer);
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double deviation(const std::vector<double>& values) {
  const double m = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - m) * (value - m);
  return values.empty() ? 0 : std::sqrt(squares / static_cast<double>(values.size()));
}

// ---- 1. Covertype, the tables of [GW23] -------------------------------------------------------

Expected<json> covertype_cell(const Table& table,
                              const std::string& method,
                              const Tolerance& tolerance,
                              double epsilon,
                              bool normal_start) {
  const GlmEngine engine(table, {});
  const PublicProblem problem = problem_of(table, 1, Relation::kReplaceOne);
  std::vector<double> losses, accuracies, norms, lowest, seconds, passes;
  int violations = 0, exhausted = 0, certified = 0;
  for (const int seed : {2023, 999, 67, 33, 128}) {
    GivenOptions options = {{"gradient_tolerance", fmt::format("{}", tolerance.gradient)},
                            {"curvature_tolerance", fmt::format("{}", tolerance.curvature)},
                            {"init", normal_start ? "normal" : "zero"},
                            {"init_seed", fmt::format("{}", seed)}};
    SOTTO_ASSIGN(const TrainResult run,
                 run_once(engine,
                          problem,
                          method,
                          options,
                          epsilon,
                          1 / static_cast<double>(table.units()),
                          static_cast<std::uint64_t>(seed)));
    const Truth truth = truth_at(table, true, problem.regularizer, run.w);
    violations += truth.gradient_norm > tolerance.gradient || truth.lowest < -tolerance.curvature;
    exhausted += run.record.stopped != "second-order point found";
    certified += run.record.certificate && run.record.certificate->verdict == "certified";
    losses.push_back(truth.objective);
    accuracies.push_back(truth.accuracy);
    norms.push_back(truth.gradient_norm);
    lowest.push_back(truth.lowest);
    seconds.push_back(run.record.train_seconds);
    passes.push_back(run.record.passes);
  }
  return json{{"violations", violations},
              {"exhausted", exhausted},
              {"certified", certified},
              {"loss", mean(losses)},
              {"loss_sd", deviation(losses)},
              {"accuracy", mean(accuracies)},
              {"gradient_norm", *std::max_element(norms.begin(), norms.end())},
              {"lowest", *std::min_element(lowest.begin(), lowest.end())},
              {"seconds", mean(seconds)},
              {"passes", mean(passes)}};
}

Expected<bool> covertype_tables(const Table& table, ResultFile& results) {
  bool holds = true;
  for (const bool normal_start : {true, false}) {
    int crosses = 0;
    fmt::print("# Covertype, classes 1/2, n = {}, replace-one, delta 1/n, w_0 {}\n",
               table.units(),
               normal_start ? "~ N(0, I), five public seeds" : "= 0");
    fmt::print("# {:8} {:5} {:>4} | {:>13} {:>6} {:>9} {:>7} {:>7} {:>5} {:>9} | published\n",
               "method",
               "tol",
               "eps",
               "loss",
               "acc",
               "max |g|",
               "passes",
               "s",
               "cert",
               "x");
    for (const Tolerance& tolerance : kTolerances)
      for (const auto& [method, name] : kTableMethods)
        for (const double epsilon : kEpsilons) {
          const std::string key = fmt::format("covertype {} {} epsilon {} {}",
                                              method,
                                              tolerance.name,
                                              epsilon,
                                              normal_start ? "normal" : "zero");
          const json* cell = results.find(key);
          if (!cell) {
            fmt::print(stderr, "{}\n", key);
            SOTTO_ASSIGN(json fresh,
                         covertype_cell(table, method, tolerance, epsilon, normal_start));
            cell = &results.add(key, std::move(fresh));
          }
          const bool x = (*cell)["violations"] > 0 || (*cell)["exhausted"] > 0;
          const bool counted = !std::string(name).ends_with("-B");
          crosses += x && counted;
          fmt::print(
              "# {:8} {:5} {:>4} | {:.3f} ± {:.3f} {:6.3f} {:9.4f} {:7.1f} {:7.2f} {:>3}/5 "
              "{:>9} | {}\n",
              name,
              tolerance.name,
              epsilon,
              (*cell)["loss"].get<double>(),
              (*cell)["loss_sd"].get<double>(),
              (*cell)["accuracy"].get<double>(),
              (*cell)["gradient_norm"].get<double>(),
              (*cell)["passes"].get<double>(),
              (*cell)["seconds"].get<double>(),
              (*cell)["certified"].get<int>(),
              x ? fmt::format(
                      "x {}/{}", (*cell)["violations"].get<int>(), (*cell)["exhausted"].get<int>())
                : "",
              published(method, tolerance.name, epsilon));
          std::fflush(stdout);
        }
    holds &= figure(fmt::format("covertype, w_0 {}", normal_start ? "~ N(0, I)" : "= 0"),
                    "cells with x, of 30 (published: 12)",
                    crosses,
                    normal_start ? 4 : kInfinity);
  }
  return holds;
}

// ---- 2. The comparison of [WX20] ----------------------------------------------------------------

Expected<bool> comparison(const std::string& name, const Table& table, ResultFile& results) {
  const GlmEngine engine(table, {});
  const PublicProblem problem = problem_of(table, 1, Relation::kReplaceOne);
  const double delta = 1 / static_cast<double>(table.units());
  constexpr int kRuns = 5;
  const std::string best_key = "comparison " + name + " optimum";
  const json* best = results.find(best_key);
  if (!best) {
    TrainOptions options;
    options.method = "newton";
    options.options = {{"steps", "40"}};
    options.seed = 1;
    NoObserver observer;
    SOTTO_ASSIGN(PreparedRun prepared, prepare(problem, options));
    SOTTO_ASSIGN(const TrainResult result,
                 train(engine, problem, options, std::move(prepared), observer));
    best = &results.add(best_key, truth_at(table, true, problem.regularizer, result.w).objective);
  }
  const double optimum = best->get<double>();
  fmt::print("# {}: n = {}, optimum {:.4f}\n", name, table.units(), optimum);
  fmt::print("# {:10} {:>5} {:>4} | {:>8} {:>8} {:>7} {:>8}\n",
             "method",
             "alpha",
             "eps",
             "|g|",
             "gap",
             "passes",
             "s");
  for (const double epsilon : {0.5, 1.0, 2.0})
    for (const auto& [method, alpha] : kCompared) {
      const std::string key = fmt::format("comparison {} {}{} epsilon {}",
                                          name,
                                          method,
                                          *alpha ? std::string(" alpha ") + alpha : std::string(),
                                          epsilon);
      const json* cell = results.find(key);
      if (!cell) {
        fmt::print(stderr, "{}\n", key);
        std::vector<double> norms, gaps, passes, seconds;
        for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
          GivenOptions options;
          if (*alpha) options = {{"gradient_tolerance", alpha}};
          SOTTO_ASSIGN(const TrainResult run,
                       run_once(engine, problem, method, options, epsilon, delta, seed));
          const Truth truth = truth_at(table, true, problem.regularizer, run.w);
          norms.push_back(truth.gradient_norm);
          gaps.push_back(truth.objective - optimum);
          passes.push_back(run.record.passes);
          seconds.push_back(run.record.train_seconds);
        }
        cell = &results.add(key,
                            {{"gradient_norm", mean(norms)},
                             {"gap", mean(gaps)},
                             {"passes", mean(passes)},
                             {"seconds", mean(seconds)}});
      }
      fmt::print("# {:10} {:>5} {:>4} | {:8.4f} {:8.4f} {:7.1f} {:8.3f}\n",
                 method,
                 *alpha ? alpha : "own",
                 epsilon,
                 (*cell)["gradient_norm"].get<double>(),
                 (*cell)["gap"].get<double>(),
                 (*cell)["passes"].get<double>(),
                 (*cell)["seconds"].get<double>());
      figure(key, "gradient norm, mean of runs", (*cell)["gradient_norm"], kInfinity);
      figure(key, "optimality gap, mean of runs", (*cell)["gap"], kInfinity);
    }
  return true;
}

// ---- 3. a9a
// --------------------------------------------------------------------------------------

Expected<bool> newton_on_a9a(const Table& table, ResultFile& results) {
  const GlmEngine engine(table, {});
  const PublicProblem problem = problem_of(table, 3.7417, Relation::kReplaceOne);
  constexpr int kRuns = 20;
  bool holds = true;
  for (const double epsilon : {0.2, 0.5}) {
    const std::string key = fmt::format("a9a dp-newton epsilon {}", epsilon);
    const json* cell = results.find(key);
    if (!cell) {
      fmt::print(stderr, "{}\n", key);
      std::vector<double> norms, passes;
      for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
        TrainOptions options;
        options.method = "dp-newton";
        options.epsilon = epsilon;
        options.delta = 1e-5;
        options.seed = seed;
        options.unsafe_diagnostics = true;
        NoObserver observer;
        SOTTO_ASSIGN(PreparedRun prepared, prepare(problem, options));
        SOTTO_ASSIGN(const TrainResult result,
                     train(engine, problem, options, std::move(prepared), observer));
        norms.push_back(result.record.diagnostics->gradient_norm);
        passes.push_back(result.record.passes);
      }
      cell = &results.add(
          key,
          {{"gradient_norm", mean(norms)}, {"sd", deviation(norms)}, {"passes", mean(passes)}});
    }
    holds &= figure(key,
                    "gradient norm, mean of 20 runs (published best 0.0437 / 0.0402)",
                    (*cell)["gradient_norm"],
                    epsilon < 0.3 ? 0.032 : 0.020);
    holds &= figure(key, "passes", (*cell)["passes"], 8);
  }
  return holds;
}

// ---- 4. Saddles
// ----------------------------------------------------------------------------------

/// Sees every iterate, as anybody may, and remembers after how many passes the true curvature was
/// good for the first time (which only a benchmark may know).
class Watch final : public Observer {
 public:
  Watch(const Table& table, double tolerance) : table_(table), tolerance_(tolerance) {}
  void watch(const PrivateOracle& oracle) { oracle_ = &oracle; }
  bool keep_going(const StepReport& report) override {
    if (escaped_ < 0 && truth_at(table_, false, {}, *report.iterate).lowest >= -tolerance_)
      escaped_ = oracle_->row_visits() / static_cast<double>(table_.rows());
    return true;
  }
  double escaped() const { return escaped_; }

 private:
  const Table& table_;
  double tolerance_;
  const PrivateOracle* oracle_ = nullptr;
  double escaped_ = -1;
};

constexpr double kSaddleTolerance = 0.05;

Expected<json> saddle_cell(const Table& table,
                           const std::string& method,
                           const GivenOptions& options,
                           int runs) {
  const LossSpec loss{LossKind::kPhaseRetrieval, 9};
  const GlmEngine engine(table, loss);
  PublicProblem problem = problem_of(table, 1, Relation::kZeroOut);
  problem.loss = loss_info(loss);
  problem.regularizer = Regularizer();
  problem.linear_rows = false;
  std::vector<double> first, lowest, passes;
  int escaped = 0;
  for (int seed = 0; seed < runs; ++seed) {
    TrainOptions train_options;
    train_options.method = method;
    train_options.options = options;
    train_options.epsilon = 1;
    train_options.delta = 1e-6;
    train_options.seed = static_cast<std::uint64_t>(seed);
    SOTTO_ASSIGN(const PreparedRun prepared, prepare(problem, train_options));
    LedgerOptions granted;
    granted.budget = {1, 1e-6};
    granted.plan = prepared.plan.event;
    granted.filter = prepared.plan.filter;
    granted.relation = problem.relation;
    granted.planned_samples = prepared.plan.noise_samples;
    granted.accountant = prepared.accountant;
    SOTTO_ASSIGN(Ledger ledger, Ledger::open(std::move(granted)));
    PrivateOracle oracle(engine,
                         problem,
                         ledger,
                         Stream::seeded(train_options.seed.value(), Purpose::kSampling),
                         Stream::seeded(train_options.seed.value(), Purpose::kNoise));
    Watch watch(table, kSaddleTolerance);
    watch.watch(oracle);
    SOTTO_ASSIGN(const OptimizerResult result,
                 prepared.configured.optimizer->run(oracle, prepared.noise_multiplier, watch));
    const Truth truth = truth_at(table, false, {}, result.w);
    const bool out = truth.lowest >= -kSaddleTolerance;
    escaped += out;
    if (out) first.push_back(std::max(watch.escaped(), 0.0));
    lowest.push_back(truth.lowest);
    passes.push_back(oracle.row_visits() / static_cast<double>(table.rows()));
  }
  return json{{"escaped", static_cast<double>(escaped) / runs},
              {"first_passes", mean(first)},
              {"lowest", *std::min_element(lowest.begin(), lowest.end())},
              {"passes", mean(passes)}};
}

Expected<bool> saddles(ResultFile& results) {
  const Table table = phase_retrieval(20'000, 10);
  // Public choices for a problem of this size, the same for all: what clips, how smooth.
  const GivenOptions search = {{"gradient_tolerance", "0.05"},
                               {"curvature_tolerance", "0.05"},
                               {"clip_radius", "2"},
                               {"hessian_clip", "4"},
                               {"smoothness", "1"},
                               {"hessian_lipschitz", "0.3"},
                               {"certificate_share", "0"},
                               {"gap", "1"},
                               {"steps", "60"}};
  struct Row {
    std::string method;
    GivenOptions options;
    bool second_order;
    int runs;
  };
  std::vector<Row> rows;
  const auto with = [](GivenOptions options, const GivenOptions& more) {
    options.insert(options.end(), more.begin(), more.end());
    return options;
  };
  rows.push_back({"dp-tr", with(search, {{"radius", "2"}}), true, 100});
  rows.push_back(
      {"2opt-ls", with(search, {{"candidates", "3"}, {"longest_step", "3"}}), true, 100});
  rows.push_back(
      {"dp-tr-b", with(search, {{"radius", "2"}, {"expected_batch", "2000"}}), true, 100});
  rows.push_back({"opt", search, true, 20});
  for (const char* step : {"0.5", "1", "2", "4", "8"})
    for (const char* steps : {"20", "60"}) {
      const GivenOptions options = {
          {"clip_radius", "2"}, {"step_size", step}, {"steps", steps}, {"schedule", "constant"}};
      rows.push_back({"dp-gd", with(options, {{"momentum", "0"}}), false, 20});
      rows.push_back({"dp-gd", with(options, {{"momentum", "0.9"}}), false, 20});
    }
  for (const char* step : {"1", "4"})
    rows.push_back({"dp-sgd",
                    {{"clip_radius", "2"},
                     {"step_size", step},
                     {"steps", "200"},
                     {"expected_batch", "2000"},
                     {"momentum", "0"},
                     {"schedule", "constant"}},
                    false,
                    20});
  rows.push_back({"dp-gd-sosp", search, false, 20});

  fmt::print("# phase retrieval, 20,000 x 10, from w = 0 (lowest eigenvalue {:.3f}), epsilon 1\n",
             truth_at(table, false, {}, Vector::Zero(10)).lowest);
  fmt::print("# {:60} {:>7} {:>7} {:>8} {:>7}\n", "method", "escaped", "after", "lowest", "passes");
  bool holds = true;
  double best_full = kInfinity, best_sampled = kInfinity;
  std::map<std::string, double> ours;
  for (const Row& row : rows) {
    std::string name = row.method;
    if (row.method == "dp-gd" || row.method == "dp-sgd")
      for (const auto& [option, value] : row.options) name += " " + option + "=" + value;
    std::string key = fmt::format("saddle {} x {}", row.method, row.runs);
    for (const auto& [option, value] : row.options) key += " " + option + "=" + value;
    const json* cell = results.find(key);
    if (!cell) {
      fmt::print(stderr, "saddle {}\n", name);
      SOTTO_ASSIGN(json fresh, saddle_cell(table, row.method, row.options, row.runs));
      cell = &results.add(key, std::move(fresh));
    }
    const double escaped = (*cell)["escaped"], first = (*cell)["first_passes"];
    fmt::print("# {:60} {:6.0f}% {:7.1f} {:8.4f} {:7.1f}\n",
               name.substr(0, 60),
               100 * escaped,
               first,
               (*cell)["lowest"].get<double>(),
               (*cell)["passes"].get<double>());
    if (!row.second_order && escaped >= 0.95) {
      double& best = row.method == "dp-sgd" ? best_sampled : best_full;
      best = std::min(best, first);
    }
    if (row.runs == 100) {
      holds &= figure("saddle " + row.method, "runs that escaped, of 100", escaped, 0.95, true);
      ours[row.method] = first;
    }
  }
  // Full batches against full batches, small ones against small ones.
  for (const auto& [method, first] : ours) {
    const bool sampled = method == "dp-tr-b";
    holds &= figure("saddle " + method,
                    sampled ? "passes until escape over the best dp-sgd's"
                            : "passes until escape over the best full-batch first-order method's",
                    first / (sampled ? best_sampled : best_full),
                    1);
  }
  return holds;
}

Expected<bool> run(const std::filesystem::path& path) {
  ResultFile results(path);
  bool holds = true;
  SOTTO_ASSIGN(const Table a9a, libsvm("a9a", 123, 3.7417));
  SOTTO_ASSIGN(const bool newton, newton_on_a9a(a9a, results));
  SOTTO_ASSIGN(const bool escaped, saddles(results));
  SOTTO_ASSIGN(const Table forest, covertype());
  SOTTO_ASSIGN(const bool tables, covertype_tables(forest, results));
  SOTTO_ASSIGN(const Table ijcnn1, libsvm("ijcnn1.tr", 22, 1));
  const Table dense = dense_copy(
      ijcnn1, [](float) { return true; }, [](float label) { return label; });
  SOTTO_TRY(comparison("ijcnn1", dense, results));
  SOTTO_TRY(comparison("covertype", forest, results));
  holds = newton && escaped && tables;
  return holds;
}

}  // namespace
}  // namespace sotto::bench

int main(int argc, char** argv) {
  if (!std::filesystem::exists(std::string(SOTTO_SHARED_DIR) + "/data/libsvm/a9a.gz")) {
    fmt::print(stderr, "skipped: the data sets are not at hand\n");
    return 0;
  }
  const auto holds = sotto::bench::run(argc > 1 ? argv[1] : "build/utility_second_order.jsonl");
  if (!holds) fmt::print(stderr, "bench_utility_second_order: {}\n", holds.error().message);
  return holds && *holds ? 0 : 1;
}
