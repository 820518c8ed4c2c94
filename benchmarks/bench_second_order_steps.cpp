// Whole second-order runs against the plain linear algebra that they can't do without: a dp-tr run
// on Covertype over as many gradients and X'X products by Eigen on the same rows, and one
// trust-region step in 20,000 dimensions, where no d x d matrix is ever formed.

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sotto/core/parallel.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/random/stream.hpp"
#include "sotto/study/data_sets.hpp"
#include "sotto/training/train.hpp"

namespace sotto::bench {
namespace {

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

bool line(const std::string& what, const std::string& ratio, double value, double bound) {
  nlohmann::json json = {
      {"bench", "second_order_steps"}, {"case", what}, {"ratio", ratio}, {"value", value}};
  json["bound"] = std::isfinite(bound) ? nlohmann::json(bound) : nlohmann::json(nullptr);
  json["holds"] = value <= bound;
  fmt::print("{}\n", json.dump());
  std::fflush(stdout);
  return value <= bound;
}

Expected<TrainResult> dp_tr(const Table& table,
                            const GivenOptions& options,
                            double row_norm,
                            double epsilon) {
  const GlmEngine engine(table, {});
  PublicProblem problem;
  problem.n = std::int64_t{table.units()};
  problem.dimension = table.dim();
  problem.row_norm = row_norm;
  problem.linear_rows = true;
  problem.regularizer = Regularizer(RegularizerKind::kNonconvex, 1e-3);
  TrainOptions train_options;
  train_options.method = "dp-tr";
  train_options.options = options;
  train_options.epsilon = epsilon;
  train_options.delta = 1e-6;
  train_options.seed = 1;
  NoObserver observer;
  SOTTO_ASSIGN(PreparedRun prepared, prepare(problem, train_options));
  return train(engine, problem, train_options, std::move(prepared), observer);
}

/// Seconds of one gradient and one X'X by Eigen, the least of three.
double plain_pass(const Table& table) {
  const Eigen::Index n = table.rows(), d = table.dim();
  RowMajor X(n, d);
  for (Eigen::Index i = 0; i < n; ++i)
    X.row(i) = Eigen::Map<const Eigen::RowVectorXf>(table.row(i), d);
  const Eigen::VectorXf w = Eigen::VectorXf::Constant(d, 0.1F);
  double least = 1e300, sink = 0;
  for (int k = 0; k < 3; ++k) {
    const auto begin = std::chrono::steady_clock::now();
    const Eigen::VectorXf slope = (1 + (X * w).array().exp()).inverse();
    const Eigen::VectorXf gradient = X.transpose() * slope;
    Eigen::MatrixXf gram = Eigen::MatrixXf::Zero(d, d);
    gram.selfadjointView<Eigen::Lower>().rankUpdate(X.transpose());
    least = std::min(least, seconds_since(begin));
    sink += static_cast<double>(gradient.sum() + gram(0, 0));
  }
  if (!std::isfinite(sink)) fmt::print(stderr, "not finite\n");
  return least;
}

/// Sparse rows of norm 1 in many dimensions; labels by a few features.
Table wide(std::int64_t rows, std::int64_t dim, std::int64_t entries) {
  Stream random = Stream::seeded(5, Purpose::kData);
  std::vector<std::int64_t> offsets = {0};
  std::vector<std::int32_t> columns;
  std::vector<float> values, labels;
  const auto value = static_cast<float>(0.9999 / std::sqrt(static_cast<double>(entries)));
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t gap = dim / entries;
    double score = 0;
    for (std::int64_t k = 0; k < entries; ++k) {
      const auto column =
          k * gap + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(gap)));
      columns.push_back(static_cast<std::int32_t>(column));
      values.push_back(value);
      score += column % 2 == 0 ? 1 : -1;
    }
    offsets.push_back(static_cast<std::int64_t>(columns.size()));
    labels.push_back(score > 0 ? 1.0F : -1.0F);
  }
  return TableBuilder::sparse(dim, offsets, columns, values, labels, {});
}

/// Peak resident memory of this process, in bytes.
double peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string text; std::getline(status, text);)
    if (text.starts_with("VmHWM:")) return 1024 * std::stod(text.substr(6));
  return std::numeric_limits<double>::quiet_NaN();
}

Expected<bool> run() {
  bool holds = true;
  {
    const std::int64_t d = 20'000;
    const Table table = wide(50'000, d, 40);
    const double before = peak_bytes();
    SOTTO_ASSIGN(const TrainResult result,
                 dp_tr(table,
                       {{"steps", "1"},
                        {"gradient_tolerance", "0.001"},
                        {"certificate_share", "0"},
                        {"products", "60"}},
                       1,
                       8));
    line("dp-tr by Lanczos, d = 20,000",
         "seconds per step",
         result.seconds,
         std::numeric_limits<double>::infinity());
    holds &= line("dp-tr by Lanczos, d = 20,000",
                  "memory beyond the data over one d x d matrix",
                  (peak_bytes() - before) / (8.0 * static_cast<double>(d) * static_cast<double>(d)),
                  0.1);
  }
  // As in studies/opt-loose.toml.
  study::DataSpec covertype;
  covertype.kind = "csv";
  covertype.train = "uci/covtype.subset177k.data.gz";
  covertype.schema = "covertype.toml";
  covertype.classes = {1, 2};
  covertype.row_norm = 1;
  SOTTO_ASSIGN(const study::DataSet data,
               study::load_data(covertype,
                                {std::string(SOTTO_SHARED_DIR) + "/data"},
                                std::string(SOTTO_SOURCE_DIR) + "/studies",
                                0,
                                0));
  const Table& forest = data.train;
  set_thread_count(1);  // Eigen's products are single-threaded
  SOTTO_ASSIGN(
      const TrainResult result,
      dp_tr(forest,
            {{"gradient_tolerance", "0.015"}, {"init", "normal"}, {"certificate_share", "0"}},
            1,
            1));
  const double plain = plain_pass(forest);
  holds &= line(fmt::format("dp-tr on covertype, {} steps", result.record.steps),
                "time over as many plain gradient + X'X passes",
                result.seconds / (plain * result.record.passes),
                5);
  return holds;
}

}  // namespace
}  // namespace sotto::bench

int main() {
  if (!std::filesystem::exists(std::string(SOTTO_SHARED_DIR) +
                               "/data/uci/covtype.subset177k.data.gz")) {
    fmt::print(stderr, "skipped: the data are missing\n");
    return 0;
  }
  const auto holds = sotto::bench::run();
  if (!holds) fmt::print(stderr, "bench_second_order_steps: {}\n", holds.error().message);
  return holds && *holds ? 0 : 1;
}
