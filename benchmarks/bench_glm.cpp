// What clipping costs in a full-gradient pass, how far a pass is from merely reading the rows, and
// what a complete private step (charge, clip, sum, noise) adds.
// Data is made here, in the shapes of covtype (dense 581,012 x 54) and of a9a (123 columns, 14
// entries a row; more rows, for stable timing).

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <vector>

#include "sotto/core/parallel.hpp"
#include "sotto/data/table.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/oracle/per_example_sum.hpp"
#include "sotto/oracle/private_oracle.hpp"

namespace sotto {
namespace {

constexpr int kRepetitions = 80;

Table make_dense(std::int64_t rows, std::int64_t dim) {
  std::vector<float> values(static_cast<std::size_t>(rows * dim));
  std::vector<float> labels(static_cast<std::size_t>(rows));
  std::minstd_rand random(1);
  const auto uniform = [&] { return static_cast<float>(random()) * (1 / 2147483648.0f); };
  for (float& x : values) x = uniform() - 0.5f;
  for (float& y : labels) y = uniform() < 0.5f ? -1.0f : 1.0f;
  return TableBuilder::dense(rows, dim, values, std::move(labels), {});
}

Table make_sparse(std::int64_t rows) {
  constexpr int kGroups = 14;  // one-hot groups, as a9a has
  constexpr int kDim = 123;
  std::minstd_rand random(2);
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> columns;
  std::vector<float> values, labels;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (int g = 0; g < kGroups; ++g) {
      if (random() % 100 < 1) continue;  // missing
      const auto low = static_cast<std::uint_fast32_t>(kDim * g / kGroups);
      const auto high = static_cast<std::uint_fast32_t>(kDim * (g + 1) / kGroups);
      columns.push_back(static_cast<std::int32_t>(low + random() % (high - low)));
      values.push_back(1);
    }
    offsets.push_back(std::ssize(values));
    labels.push_back(random() % 4 == 0 ? 1.0f : -1.0f);
  }
  return TableBuilder::sparse(kDim, offsets, columns, values, labels, {});
}

/// The pass of PerExampleSum without clipping: evaluate a block, weights 1, add.
class UnclippedPass {
 public:
  UnclippedPass(const Engine& engine, const Vector& w)
      : engine_(engine), w_(w), workers_(static_cast<std::size_t>(thread_count())) {
    for (Worker& worker : workers_) {
      worker.workspace = engine.make_workspace();
      worker.norms.resize(static_cast<std::size_t>(engine.block_size()));
      worker.ones.assign(static_cast<std::size_t>(engine.block_size()), 1.0);
      worker.sum.resize(static_cast<std::size_t>(w.size()));
    }
  }

  void run() {
    const std::int64_t size = engine_.block_size();
    const std::int64_t blocks = (engine_.units() + size - 1) / size;
    parallel_for(blocks, [&](std::int64_t task, int index) {
      Worker& worker = workers_[static_cast<std::size_t>(index)];
      const Block block{nullptr, task * size, std::min(size, engine_.units() - task * size)};
      const auto count = static_cast<std::size_t>(block.count);
      engine_.evaluate_gradients(block,
                                 {w_.data(), static_cast<std::size_t>(w_.size())},
                                 *worker.workspace,
                                 {worker.norms.data(), count});
      engine_.add_gradients(*worker.workspace, {worker.ones.data(), count}, worker.sum);
    });
  }

  /// A radius that clips about half of the rows.
  double median_norm() {
    Worker& worker = workers_[0];
    const std::span norms(worker.norms);
    engine_.evaluate_gradients(
        {nullptr, 0, std::min<std::int64_t>(engine_.block_size(), engine_.units())},
        {w_.data(), static_cast<std::size_t>(w_.size())},
        *worker.workspace,
        norms);
    std::vector<double> sorted(norms.begin(), norms.end());
    std::nth_element(sorted.begin(), sorted.begin() + std::ssize(sorted) / 2, sorted.end());
    return sorted[sorted.size() / 2];
  }

 private:
  struct Worker {
    std::unique_ptr<Engine::Workspace> workspace;
    std::vector<double> norms, ones, sum;
  };
  const Engine& engine_;
  const Vector& w_;
  std::vector<Worker> workers_;
};

/// A private oracle with its ledger and a real journal, granted enough queries for the benchmark.
class PrivateSetup {
 public:
  static constexpr double kMultiplier = 100;

  explicit PrivateSetup(const GlmEngine& engine)
      : path_(fmt::format("{}/sotto_bench_{}.journal",
                          std::filesystem::temp_directory_path().string(),
                          ::getpid())),
        ledger_(*open_ledger(engine, path_)),
        oracle_(engine,
                problem_of(engine),
                ledger_,
                Stream::secure(Purpose::kSampling),
                Stream::secure(Purpose::kNoise)) {}
  ~PrivateSetup() { std::filesystem::remove(path_); }

  void step(const Vector& w, double radius) {
    const auto answer = oracle_.gradient({w, Sampling::full(), radius, kMultiplier});
    if (!answer) throw std::runtime_error(answer.error().message);
  }

 private:
  static PublicProblem problem_of(const GlmEngine& engine) {
    PublicProblem problem;
    problem.n = std::int64_t{engine.units()};
    problem.dimension = engine.parameters();
    problem.row_norm = 1;
    return problem;
  }
  static Expected<Ledger> open_ledger(const GlmEngine& engine, const std::string& path) {
    LedgerOptions options;
    options.budget.delta = 1e-6;
    options.plan = Event::repeat(1000, Event::gaussian(kMultiplier, Relation::kZeroOut));
    options.planned_samples = 1000 * engine.parameters();
    options.method = "bench";
    options.journal_path = path;
    return Ledger::open(options);
  }

  std::string path_;
  Ledger ledger_;
  PrivateOracle oracle_;
};

typedef float Float8 __attribute__((vector_size(32)));

/// The sum of `count` floats (a multiple of 64), as fast as memory delivers them.
#if defined(__x86_64__)
__attribute__((target_clones("avx2", "default")))
#endif
void add_floats(const float* p, std::int64_t count, float* total) {
  Float8 acc[8] = {};
  for (std::int64_t i = 0; i < count; i += 64)
    for (int q = 0; q < 8; ++q) {
      Float8 v;
      __builtin_memcpy(&v, p + i + 8 * q, sizeof(v));
      acc[q] += v;
    }
  for (int q = 1; q < 8; ++q) acc[0] += acc[q];
  for (int j = 0; j < 8; ++j) *total += acc[0][j];
}

float read(const Table& table) {
  constexpr std::int64_t kChunk = 1 << 16;
  const float* data = table.row(0);
  const std::int64_t floats = table.rows() * table.stride() / 64 * 64;
  const std::int64_t chunks = (floats + kChunk - 1) / kChunk;
  std::vector<float> totals(static_cast<std::size_t>(chunks));
  parallel_for(chunks, [&](std::int64_t task, int) {
    const std::int64_t begin = task * kChunk;
    add_floats(
        data + begin, std::min(kChunk, floats - begin), &totals[static_cast<std::size_t>(task)]);
  });
  float total = 0;
  for (const float part : totals) total += part;
  return total;
}

/// The best time of each candidate in seconds. They take turns, so that a slow moment of the
/// machine hits all of them and no pass finds its rows in the cache.
std::vector<double> best_times(const std::vector<std::function<void()>>& candidates) {
  std::vector<double> best(candidates.size(), std::numeric_limits<double>::infinity());
  for (int repetition = 0; repetition < kRepetitions; ++repetition)
    for (std::size_t k = 0; k < candidates.size(); ++k) {
      const auto start = std::chrono::steady_clock::now();
      candidates[k]();
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
      best[k] = std::min(best[k], time.count());
    }
  return best;
}

bool report(const char* name, const char* ratio, double value, double bound) {
  const bool holds = value <= bound;
  fmt::print(
      "{{\"bench\": \"glm\", \"case\": \"{}\", \"ratio\": \"{}\", \"value\": {:.4f}, \"bound\": "
      "{}, "
      "\"holds\": {}}}\n",
      name,
      ratio,
      value,
      bound,
      holds);
  return holds;
}

bool bench(const Table& table, const LossSpec& loss, const char* name, bool compare_all) {
  const GlmEngine engine(table, loss);
  Vector w(engine.parameters());
  for (Eigen::Index j = 0; j < w.size(); ++j) w[j] = 0.1 * std::sin(static_cast<double>(j));
  UnclippedPass unclipped(engine, w);
  const double radius = unclipped.median_norm();
  PerExampleSum sums(engine);
  PrivateSetup setup(engine);
  Vector sum;
  volatile float sink = 0;
  std::vector<std::function<void()>> candidates = {
      [&] { unclipped.run(); }, [&] { sums.clipped_gradients({}, w, radius, sum); }};
  if (compare_all) {
    candidates.push_back([&] { sink = sink + read(table); });
    candidates.push_back([&] { setup.step(w, radius); });
  }
  const auto times = best_times(candidates);
  bool holds = report(name, "clipped pass / unclipped pass", times[1] / times[0], 1.15);
  if (compare_all) {
    holds &= report(name, "clipped pass / plain read of the matrix", times[1] / times[2], 2.5);
    holds &= report(name, "complete private step / clipped pass", times[3] / times[1], 1.1);
  }
  fmt::print(
      stderr, "{}: clipped pass {:.3f} ms, {} threads\n", name, 1e3 * times[1], thread_count());
  return holds;
}

int run() {
  bool holds = true;
  {
    const Table dense = make_dense(581012, 54);
    holds &= bench(dense, {LossKind::kLogistic}, "dense 581012 x 54, logistic", true);
    holds &= bench(dense, {LossKind::kSigmoid}, "dense 581012 x 54, sigmoid", false);
  }
  const Table sparse = make_sparse(500000);
  holds &= bench(sparse, {LossKind::kLogistic}, "sparse 500000 x 123, logistic", false);
  return holds ? 0 : 1;
}

}  // namespace
}  // namespace sotto

int main() { return sotto::run(); }
