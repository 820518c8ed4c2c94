// Second-order methods on a problem whose saddle is real: phase retrieval, started at its strict
// saddle w = 0. How many runs escape and after how many passes, with first-order methods on a grid
// beside them.
//
// Resumable: finished cells are kept in build/utility_second_order_saddles.jsonl (or the file named
// as the argument) and not run again.

#include <algorithm>
#include <limits>
#include <map>
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
  rows.push_back(
      {"dp-tr-b", with(search, {{"radius", "2"}, {"expected_batch", "500"}}), true, 20});
  rows.push_back({"opt", search, true, 20});
  for (const char* step : {"0.5", "1", "2", "4", "8"})
    for (const char* steps : {"20", "60"}) {
      const GivenOptions options = {
          {"clip_radius", "2"}, {"step_size", step}, {"steps", steps}, {"schedule", "constant"}};
      rows.push_back({"dp-gd", with(options, {{"momentum", "0"}}), false, 20});
      rows.push_back({"dp-gd", with(options, {{"momentum", "0.9"}}), false, 20});
    }
  for (const char* batch : {"500", "2000"})
    for (const char* step : {"0.5", "1", "2", "4", "8"})
      for (const char* momentum : {"0", "0.9"})
        rows.push_back({"dp-sgd",
                        {{"expected_batch", batch},
                         {"clip_radius", "2"},
                         {"step_size", step},
                         {"steps", "200"},
                         {"momentum", momentum},
                         {"schedule", "constant"}},
                        false,
                        20});
  rows.push_back({"dp-gd-sosp", search, false, 20});

  fmt::print("# phase retrieval, 20,000 x 10, from w = 0 (lowest eigenvalue {:.3f}), epsilon 1\n",
             truth_at(table, false, {}, Vector::Zero(10)).lowest);
  fmt::print("# {:60} {:>7} {:>7} {:>8} {:>7}\n", "method", "escaped", "after", "lowest", "passes");
  bool holds = true;
  // By the number of rows that a release reads: a full pass, or a batch. A method that reads
  // batches may be done before another has read all rows once, whatever their order.
  std::map<std::string, double> best_first_order, best_second_order;
  std::map<std::string, double> full_batch;
  for (const Row& row : rows) {
    std::string name = row.method;
    std::string batch = "full";
    for (const auto& [option, value] : row.options)
      if (option == "expected_batch") batch = value;
    if (!row.second_order || batch != "full")
      for (const auto& [option, value] : row.options)
        if (option == "step_size" || option == "momentum" || option == "steps" ||
            option == "expected_batch")
          name += fmt::format(" {} {}", option, value);
    std::string key = fmt::format("saddle {} x {}", row.method, row.runs);
    for (const auto& [option, value] : row.options) key += " " + option + "=" + value;
    const json* cell = results.find(key);
    if (!cell) {
      fmt::print(stderr, "{}\n", key);
      SOTTO_ASSIGN(json fresh, saddle_cell(table, row.method, row.options, row.runs));
      cell = &results.add(key, std::move(fresh));
    }
    const double escaped = (*cell)["escaped"], first = (*cell)["first_passes"];
    fmt::print("# {:60} {:6.0f}% {:7.2f} {:8.4f} {:7.1f}\n",
               name,
               100 * escaped,
               first,
               (*cell)["lowest"].get<double>(),
               (*cell)["passes"].get<double>());
    if (escaped >= 0.95) {
      auto& best = row.second_order ? best_second_order : best_first_order;
      best.try_emplace(batch, kInfinity);
      best[batch] = std::min(best[batch], first);
    }
    if (row.runs < 100) continue;
    holds &= figure("saddle " + name, "runs that escaped, of 100", escaped, 0.95, true);
    if (batch == "full") full_batch[row.method] = first;
  }
  double least = kInfinity;
  for (const auto& [batch, first] : best_first_order) {
    least = std::min(least, first);
    if (best_second_order.contains(batch))
      holds &= figure("saddle, batch " + batch,
                      "passes until escape, best second-order over best first-order method",
                      best_second_order[batch] / first,
                      1);
  }
  for (const auto& [method, first] : full_batch) {
    holds &= figure("saddle " + method,
                    "passes until escape over the best full-batch first-order method's",
                    first / best_first_order["full"],
                    1);
    holds &= figure("saddle " + method,
                    "passes until escape over the best first-order method's, any batch",
                    first / least,
                    1);
  }
  return holds;
}

}  // namespace
}  // namespace sotto::bench

int main(int argc, char** argv) {
  sotto::ResultFile results(argc > 1 ? argv[1] : "build/utility_second_order_saddles.jsonl");
  const auto holds = sotto::bench::saddles(results);
  if (!holds) fmt::print(stderr, "bench_utility_second_order_saddles: {}\n", holds.error().message);
  return holds && *holds ? 0 : 1;
}
