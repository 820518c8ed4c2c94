// Test objective and gradient norm along the way, for the plots of docs/reference/methods: every
// private first-order method on a9a with its defaults (logistic + nonconvex:1e-3, delta 1e-5,
// replace-one), mean and 95 % band of 20 runs, against passes over the data. Every iterate is a
// released value; the gradient norm on the training rows is not, and is computed here for the plot
// only.
//
// Resumable: finished curves are kept in build/utility_first_order_curves.jsonl (or the file named
// as the argument). docs/plots/first_order.py turns that file into pictures.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "benchmarks/result_file.hpp"
#include "sotto/data/load.hpp"
#include "sotto/model/evaluate.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/oracle/per_example_sum.hpp"
#include "sotto/training/train.hpp"

namespace sotto {
namespace {

constexpr int kRuns = 20;
constexpr double kGrowth = 1.2;
constexpr double kRowNorm = 3.7417;

/// Evaluates the iterate at steps that grow geometrically.
class Camera final : public Observer {
 public:
  struct Point {
    double passes = 0, objective = 0, gradient_norm = 0;
  };

  Camera(const Engine& engine, const Table& test, const Regularizer& regularizer)
      : sums_(engine), units_(engine.units()), test_(test), regularizer_(regularizer) {}

  bool keep_going(const StepReport& report) override {
    if (report.step < next_) return true;
    next_ = static_cast<std::int64_t>(std::ceil(static_cast<double>(report.step) * kGrowth));
    const Vector& w = *report.iterate;
    sums_.clipped_gradients({}, w, std::numeric_limits<double>::infinity(), gradient_);
    gradient_ /= static_cast<double>(units_);
    regularizer_.add_gradient(w, gradient_);
    points.push_back(
        {report.passes, evaluate(test_, w, {}, regularizer_.value(w)).objective, gradient_.norm()});
    return true;
  }

  std::vector<Point> points;

 private:
  PerExampleSum sums_;
  std::int64_t units_;
  const Table& test_;
  const Regularizer& regularizer_;
  Vector gradient_;
  std::int64_t next_ = 1;
};

struct Band {
  double mean, half;
};

/// Mean over the runs that came to point k, and half width of its 95 % interval (normal).
Band band(const std::vector<std::vector<Camera::Point>>& runs,
          std::size_t k,
          double Camera::Point::*what) {
  std::vector<double> values;
  for (const auto& run : runs)
    if (k < run.size()) values.push_back(run[k].*what);
  const auto count = static_cast<double>(values.size());
  double mean = 0, squares = 0;
  for (const double value : values) mean += value / count;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, 1.96 * std::sqrt(squares / (count - 1) / count)};
}

Expected<nlohmann::json> measure(const std::string& method,
                                 double epsilon,
                                 const Table& rows,
                                 const Table& test) {
  const GlmEngine engine(rows, {});
  PublicProblem problem;
  problem.n = std::int64_t{rows.units()};
  problem.dimension = rows.dim();
  problem.row_norm = kRowNorm;
  problem.regularizer = Regularizer(RegularizerKind::kNonconvex, 1e-3);
  problem.relation = Relation::kReplaceOne;
  problem.linear_rows = true;
  std::vector<std::vector<Camera::Point>> runs;
  std::vector<std::size_t> lengths;
  for (int seed = 0; seed < kRuns; ++seed) {
    TrainOptions options;
    options.method = method;
    options.epsilon = epsilon;
    options.delta = 1e-5;
    options.seed = static_cast<std::uint64_t>(seed);
    Camera camera(engine, test, problem.regularizer);
    SOTTO_ASSIGN(PreparedRun prepared, prepare(problem, options));
    SOTTO_TRY(train(engine, problem, options, std::move(prepared), camera));
    lengths.push_back(camera.points.size());
    runs.push_back(std::move(camera.points));
  }
  // A method that draws its number of steps ends some runs early: its curve goes on while at least
  // half of the runs do.
  std::nth_element(lengths.begin(), lengths.begin() + kRuns / 2, lengths.end());
  nlohmann::json points = nlohmann::json::array();
  for (std::size_t k = 0; k < lengths[kRuns / 2]; ++k) {
    const Band objective = band(runs, k, &Camera::Point::objective);
    const Band norm = band(runs, k, &Camera::Point::gradient_norm);
    points.push_back({{"passes", band(runs, k, &Camera::Point::passes).mean},
                      {"objective", objective.mean},
                      {"objective_half", objective.half},
                      {"gradient_norm", norm.mean},
                      {"gradient_norm_half", norm.half}});
  }
  return nlohmann::json{
      {"method", method}, {"epsilon", epsilon}, {"runs", kRuns}, {"points", std::move(points)}};
}

Expected<void> run(const std::filesystem::path& path) {
  LoadOptions options;
  options.dim = 123;
  options.row_norm = kRowNorm;
  const std::string base = std::string(SOTTO_SHARED_DIR) + "/data/libsvm/a9a";
  options.path = base + ".gz";
  SOTTO_ASSIGN(const Dataset rows, load_table(options));
  options.path = base + ".t.gz";
  SOTTO_ASSIGN(const Dataset test, load_table(options));
  ResultFile results(path);
  for (const double epsilon : {0.2, 0.5})
    for (const char* method :
         {"dp-gd", "dp-sgd", "rrpsgd", "dp-agd", "dp-srm", "private-spiderboost", "adp-sgd"}) {
      const std::string key = fmt::format("a9a {} epsilon {} x {}", method, epsilon, kRuns);
      const nlohmann::json* result = results.find(key);
      if (result == nullptr) {
        fmt::print(stderr, "{}\n", key);
        SOTTO_ASSIGN(nlohmann::json measured, measure(method, epsilon, rows.table, test.table));
        result = &results.add(key, std::move(measured));
      }
      const auto& last = (*result)["points"].back();
      fmt::print(
          "{}: after {:.1f} passes objective {:.4f} ± {:.4f}, gradient norm {:.4f} ± {:.4f}\n",
          key,
          last["passes"].get<double>(),
          last["objective"].get<double>(),
          last["objective_half"].get<double>(),
          last["gradient_norm"].get<double>(),
          last["gradient_norm_half"].get<double>());
    }
  return {};
}

}  // namespace
}  // namespace sotto

int main(int argc, char** argv) {
  if (!std::filesystem::exists(std::string(SOTTO_SHARED_DIR) + "/data/libsvm/a9a.gz")) {
    fmt::print(stderr, "skipped: the data set a9a is not at hand\n");
    return 0;
  }
  const auto done = sotto::run(argc > 1 ? argv[1] : "build/utility_first_order_curves.jsonl");
  if (!done) fmt::print(stderr, "bench_utility_first_order_curves: {}\n", done.error().message);
  return done ? 0 : 1;
}
