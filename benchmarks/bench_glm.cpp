// What clipping costs in a full-gradient pass, and how far a pass is from merely reading the rows.
// Data is made here, in the shapes of covtype (dense 581,012 x 54) and of a9a (123 columns, 14
// entries a row; more rows, for stable timing).

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "sotto/core/parallel.hpp"
#include "sotto/data/table.hpp"
#include "sotto/objective/glm.hpp"

namespace sotto {
namespace {

constexpr int kRepetitions = 100;
constexpr std::int64_t kSegments = 8;

/// A part of [0, count).
struct Segment {
  std::int64_t begin, end;
};

Segment segment_of(std::int64_t count, std::int64_t segment) {
  return {count * segment / kSegments, count * (segment + 1) / kSegments};
}

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

/// A pass over the rows: evaluate a block, weigh its examples, add. Sums by worker: timing only.
class Pass {
 public:
  explicit Pass(const Engine& engine)
      : engine_(engine),
        workers_(static_cast<std::size_t>(thread_count())),
        w_(static_cast<std::size_t>(engine.parameters())) {
    for (std::size_t j = 0; j < w_.size(); ++j) w_[j] = 0.1 * std::sin(static_cast<double>(j));
    for (Worker& worker : workers_) {
      worker.workspace = engine.make_workspace();
      worker.norms.resize(static_cast<std::size_t>(engine.block_size()));
      worker.weights.assign(static_cast<std::size_t>(engine.block_size()), 1.0);
      worker.sum.resize(w_.size());
    }
  }

  /// radius 0: no clipping, every weight is 1.
  void run(std::int64_t segment, double radius) {
    const auto [first, last] = segment_of(engine_.units(), segment);
    const std::int64_t block = engine_.block_size();
    const std::int64_t blocks = (last - first + block - 1) / block;
    parallel_for(blocks, [&, first = first, last = last](std::int64_t task, int index) {
      Worker& worker = workers_[static_cast<std::size_t>(index)];
      const std::int64_t begin = first + task * block;
      const std::int64_t count = std::min(block, last - begin);
      const std::span norms(worker.norms.data(), static_cast<std::size_t>(count));
      const std::span weights(worker.weights.data(), static_cast<std::size_t>(count));
      engine_.evaluate_gradients({nullptr, begin, count}, w_, *worker.workspace, norms);
      if (radius > 0) {
        for (std::size_t k = 0; k < norms.size(); ++k)
          weights[k] = std::min(1.0, radius / norms[k]);
      } else {
        std::fill(weights.begin(), weights.end(), 1.0);
      }
      engine_.add_gradients(*worker.workspace, weights, worker.sum);
    });
  }

  /// A radius that clips about half of the rows.
  double median_norm() {
    std::vector<double> norms(
        static_cast<std::size_t>(std::min(engine_.block_size(), engine_.units())));
    engine_.evaluate_gradients({nullptr, 0, std::ssize(norms)}, w_, *workers_[0].workspace, norms);
    std::nth_element(norms.begin(), norms.begin() + std::ssize(norms) / 2, norms.end());
    return norms[norms.size() / 2];
  }

 private:
  struct Worker {
    std::unique_ptr<Engine::Workspace> workspace;
    std::vector<double> norms, weights, sum;
  };
  const Engine& engine_;
  std::vector<Worker> workers_;
  std::vector<double> w_;
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

float read(const Table& table, std::int64_t segment) {
  constexpr std::int64_t kChunk = 1 << 16;
  const auto [first, last] = segment_of(table.rows(), segment);
  const float* data = table.row(first);
  const std::int64_t floats = (last - first) * table.stride() / 64 * 64;
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

/// Time of each candidate for all segments, in seconds: the sum over segments of the best time. The
/// candidates take turns with whole passes, so that a slow moment of the machine hits all of them
/// and no pass finds its rows in the cache; segments are short enough to fall between
/// interruptions.
std::vector<double> best_times(const std::vector<std::function<void(std::int64_t)>>& candidates) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<std::array<double, kSegments>> best(candidates.size());
  for (auto& times : best) times.fill(kInfinity);
  for (int repetition = 0; repetition < kRepetitions; ++repetition)
    for (std::size_t k = 0; k < candidates.size(); ++k)
      for (std::size_t segment = 0; segment < kSegments; ++segment) {
        const auto start = std::chrono::steady_clock::now();
        candidates[k](static_cast<std::int64_t>(segment));
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
        best[k][segment] = std::min(best[k][segment], time.count());
      }
  std::vector<double> total;
  for (const auto& times : best) total.push_back(std::accumulate(times.begin(), times.end(), 0.0));
  return total;
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

bool bench(const Table& table, const LossSpec& loss, const char* name, bool compare_read) {
  const GlmEngine engine(table, loss);
  Pass pass(engine);
  const double radius = pass.median_norm();
  volatile float sink = 0;
  const auto times = best_times({[&](std::int64_t segment) { pass.run(segment, 0); },
                                 [&](std::int64_t segment) { pass.run(segment, radius); },
                                 [&](std::int64_t segment) {
                                   if (compare_read) sink = sink + read(table, segment);
                                 }});
  fmt::print(stderr,
             "{}: unclipped {:.3f} ms, clipped {:.3f} ms, read {:.3f} ms, {} threads\n",
             name,
             1e3 * times[0],
             1e3 * times[1],
             1e3 * times[2],
             thread_count());
  bool holds = report(name, "clipped pass / unclipped pass", times[1] / times[0], 1.15);
  if (compare_read)
    holds &= report(name, "clipped pass / plain read of the matrix", times[1] / times[2], 2.5);
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
