// A private step (charge, sample, clip, sum, noise, update) on networks against PyTorch's step
// without privacy (peers/networks_torch.py, its better number of threads, in the same run), and
// against Sotto's own steps: not private, and at two points.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/parallel.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/objective/network/engine.hpp"
#include "sotto/objective/network/features.hpp"
#include "sotto/oracle/exact_oracle.hpp"
#include "sotto/oracle/private_oracle.hpp"

namespace sotto {
namespace {

constexpr int kRounds = 5;
constexpr double kRoundSeconds = 0.5;
constexpr std::int64_t kPool = 8;  ///< rows of the table over the expected batch

Table make_rows(std::int64_t rows, std::int64_t dim, std::int64_t classes) {
  std::vector<float> values(static_cast<std::size_t>(rows * dim));
  std::vector<float> labels;
  std::minstd_rand random(1);
  for (float& x : values) x = static_cast<float>(random()) * (1 / 2147483648.0F);
  for (std::int64_t i = 0; i < rows; ++i)
    labels.push_back(classes == 2 ? (random() % 2 ? 1.0F : -1.0F)
                                  : static_cast<float>(random() % 10));
  return TableBuilder::dense(rows, dim, values, std::move(labels), {});
}

/// The median over the rounds of the seconds a step takes.
double median_step(const std::function<void()>& step) {
  using Clock = std::chrono::steady_clock;
  step();
  std::vector<double> rounds;
  for (int round = 0; round < kRounds; ++round) {
    const auto begin = Clock::now();
    int steps = 0;
    double seconds = 0;
    while (steps < 2 || seconds < kRoundSeconds) {
      step();
      ++steps;
      seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    }
    rounds.push_back(seconds / steps);
  }
  std::nth_element(rounds.begin(), rounds.begin() + kRounds / 2, rounds.end());
  return rounds[kRounds / 2];
}

/// PyTorch's step at its better number of threads; 0 if it is not installed.
double torch_step(const std::string& name, std::int64_t batch) {
  double best = std::numeric_limits<double>::infinity();
  for (const int threads : {1, thread_count()}) {
    const std::string command = fmt::format(
        "/usr/bin/python3 {}/benchmarks/peers/networks_torch.py {} {} {} {} 2>/dev/null",
        SOTTO_SOURCE_DIR,
        name,
        batch,
        threads,
        name == "cifar-cnn6" ? 7 : 40);
    FILE* pipe = ::popen(command.c_str(), "r");
    std::string text(4096, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), pipe));
    if (::pclose(pipe) != 0) return 0;
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (json.is_discarded()) return 0;
    const double seconds = json["seconds"].get<double>();
    fmt::print(stderr,
               "  PyTorch {}, {} threads: {:.3f} ms\n",
               json["torch"].get<std::string>(),
               threads,
               1e3 * seconds);
    best = std::min(best, seconds);
  }
  return best;
}

/// An oracle with a ledger and a real journal, and the update that follows its answer.
class PrivateSetup {
 public:
  PrivateSetup(const Engine& engine, std::int64_t batch, Vector start)
      : sampling_(
            Sampling::poisson(static_cast<double>(batch) / static_cast<double>(engine.units()))),
        w_(std::move(start)),
        before_(1.001 * w_),
        velocity_(Vector::Zero(w_.size())),
        path_(fmt::format("{}/sotto_bench_{}_{}.journal",
                          std::filesystem::temp_directory_path().string(),
                          ::getpid(),
                          ++made_)),
        ledger_(open(engine).value()),
        oracle_(engine,
                problem_of(engine),
                ledger_,
                Stream::secure(Purpose::kSampling),
                Stream::secure(Purpose::kNoise)),
        exact_(engine, problem_of(engine), Stream::secure(Purpose::kSampling)) {}
  ~PrivateSetup() { std::filesystem::remove(path_); }

  void step() {
    const auto answer = oracle_.gradient({w_, sampling_, 1, kMultiplier});
    if (!answer) throw std::runtime_error(answer.error().message);
    update(answer->value());
  }
  void pair_step() {
    const auto answer =
        oracle_.gradient_pair({w_, before_, sampling_, {0.5, 1, 0.1, false}, kMultiplier});
    if (!answer) throw std::runtime_error(answer.error().message);
    update(answer->value());
  }
  void exact_step() { update(exact_.gradient({w_, sampling_, 1, 0})->value()); }

 private:
  static constexpr double kMultiplier = 10;

  void update(const Vector& gradient) {
    velocity_ = 0.9 * velocity_ + gradient;
    w_ -= 1e-6 * velocity_;
  }
  static PublicProblem problem_of(const Engine& engine) {
    PublicProblem problem;
    problem.n = std::int64_t{engine.units()};
    problem.dimension = engine.parameters();
    problem.row_norm = std::numeric_limits<double>::infinity();
    problem.network = true;
    return problem;
  }
  Expected<Ledger> open(const Engine& engine) const {
    constexpr std::int64_t kSteps = 1'000'000;
    LedgerOptions options;
    options.budget.delta = 1e-6;
    options.plan = Event::repeat(
        kSteps, sampling_.applied_to(Event::gaussian(kMultiplier, Relation::kZeroOut)));
    options.planned_samples = kSteps * engine.parameters();
    options.method = "bench";
    options.journal_path = path_;
    return Ledger::open(options);
  }

  static inline int made_ = 0;  // a journal belongs to one run at a time
  Sampling sampling_;
  Vector w_, before_, velocity_;
  std::string path_;
  Ledger ledger_;
  PrivateOracle oracle_;
  ExactOracle exact_;
};

bool report(const std::string& name, const char* ratio, double value, double bound, bool at_least) {
  const bool holds = at_least ? value >= bound : value <= bound;
  fmt::print("{}\n",
             nlohmann::json{{"bench", "networks"},
                            {"case", name},
                            {"ratio", ratio},
                            {"value", value},
                            {"bound", bound},
                            {"holds", holds}}
                 .dump());
  return holds;
}

struct Case {
  const char* model;
  std::int64_t batch;
  double bound;  ///< of PyTorch's step over ours
};

bool bench(const Case& each) {
  const std::string name = each.model;
  const bool linear = name == "logistic";
  const std::int64_t dim = linear ? 123 : (name.starts_with("cifar") ? 3072 : 784);
  const Table table = make_rows(kPool * each.batch, dim, linear ? 2 : 10);
  const std::string label = fmt::format("{}, batch {}", name, each.batch);
  fmt::print(stderr, "{}\n", label);
  std::unique_ptr<Engine> engine;
  Vector start;
  if (linear) {
    engine = std::make_unique<GlmEngine>(table, LossSpec{LossKind::kLogistic});
    start = Vector::Constant(123, 0.01);
  } else {
    const NetworkSpec spec = builtin_network(name, dim, 10).value();
    engine = NetworkEngine::make(table, spec).value();
    start = initial_weights(spec, 1);
  }
  PrivateSetup setup(*engine, each.batch, start);
  const double ours = median_step([&] { setup.step(); });
  const double peer = torch_step(name, each.batch);
  const double exact = median_step([&] { setup.exact_step(); });
  const double pair = median_step([&] { setup.pair_step(); });
  const double again = median_step([&] { setup.step(); });
  const double step = std::min(ours, again);
  const auto rate = [&](double seconds) { return static_cast<double>(each.batch) / seconds; };
  fmt::print(stderr,
             "  {:<12} {:>10.3f} ms  {:>9.0f} examples/s\n  {:<12} {:>10.3f} ms\n  {:<12} "
             "{:>10.3f} ms\n  {:<12} {:>10.3f} ms  {:>9.0f} examples/s\n",
             "private",
             1e3 * step,
             rate(step),
             "not private",
             1e3 * exact,
             "two points",
             1e3 * pair,
             "PyTorch",
             1e3 * peer,
             peer > 0 ? rate(peer) : 0);
  bool holds = true;
  if (peer > 0)
    holds &=
        report(label, "PyTorch's step, not private / private step", peer / step, each.bound, true);
  if (!linear) {
    holds &= report(label, "private step / step without privacy", step / exact, 1.25, false);
    holds &= report(label, "two-point step / one-point step", pair / step, 2.2, false);
  }
  if (name == "cifar-cnn6" && peer > 0) {
    NetworkSpec frozen = builtin_network(name, dim, 10).value();
    for (auto& layer : frozen.layers) layer.frozen = layer.kind == LayerKind::kConv;
    const auto features = frozen_features(table, frozen, start).value();
    const auto rest = NetworkEngine::make(features->table, features->rest).value();
    PrivateSetup cached(*rest, each.batch, initial_weights(features->rest, 1));
    const double fast = median_step([&] { cached.step(); });
    fmt::print(stderr, "  {:<12} {:>10.3f} ms\n", "features", 1e3 * fast);
    holds &= report(label + ", frozen convolutions",
                    "PyTorch's step, not private / private step on cached features",
                    peer / fast,
                    10,
                    true);
  }
  return holds;
}

/// Bytes that a full-batch step on 60,000 images takes above the data.
bool bench_memory() {
  const auto bytes_of = [](std::string_view line) {
    std::ifstream status("/proc/self/status");
    for (std::string text; std::getline(status, text);)
      if (text.starts_with(line)) return 1024 * std::stod(text.substr(line.size()));
    return std::numeric_limits<double>::quiet_NaN();
  };
  const NetworkSpec spec = builtin_network("mnist-cnn4", 784, 10).value();
  const Table table = make_rows(60'000, 784, 10);
  // Making the rows took more than holding them: the peak begins here.
  std::ofstream("/proc/self/clear_refs") << 5;
  const double before = bytes_of("VmRSS:");
  const auto engine = NetworkEngine::make(table, spec).value();
  PerExampleSum sums(*engine);
  Vector sum;
  sums.clipped_gradients({}, initial_weights(spec, 1), 1, sum);
  return report("mnist-cnn4, batch 60000",
                "megabytes above the data",
                (bytes_of("VmHWM:") - before) / 1e6,
                200,
                false);
}

int run(int argc, char** argv) {
  const std::string only = argc > 1 ? argv[1] : "";
  bool holds = true;
  if (only.empty() || only == "memory") holds &= bench_memory();
  for (const Case& each : {Case{"mnist-cnn4", 256, 2},
                           {"mnist-cnn4", 1024, 2},
                           {"cifar-cnn5", 256, 1},
                           {"cifar-cnn6", 256, 0.9},
                           {"softmax", 256, 4},
                           {"logistic", 256, 20}})
    if (only.empty() || only == each.model) holds &= bench(each);
  return holds ? 0 : 1;
}

}  // namespace
}  // namespace sotto

int main(int argc, char** argv) { return sotto::run(argc, argv); }
