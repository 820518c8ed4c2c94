// What Hessians cost: assembling a clipped Xᵀ D X against Eigen's plain Xᵀ X on the same rows in
// the same run (both on one thread), the joint pass against its parts, and a Lanczos run on a lazy
// noisy operator at d = 20,000. Data is made here, in the shapes of covtype (581,012 x 54) and of a
// wider table (100,000 x 500).

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "benchmarks/peers/xtx.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/data/table.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/oracle/per_example_sum.hpp"
#include "sotto/oracle/private_oracle.hpp"

namespace sotto {
namespace {

std::vector<float> make_values(std::int64_t rows, std::int64_t dim) {
  std::vector<float> values(static_cast<std::size_t>(rows * dim));
  std::minstd_rand random(1);
  for (float& x : values) x = static_cast<float>(random()) * (1 / 2147483648.0f) - 0.5f;
  return values;
}

std::vector<float> make_labels(std::int64_t rows) {
  std::vector<float> labels(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = i % 3 == 0 ? 1.0f : -1.0f;
  return labels;
}

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The least time of each, taken in turns so that a slow moment hits all of them.
std::vector<double> least_times(const std::vector<std::function<void()>>& works, int repetitions) {
  std::vector<double> least(works.size(), 1e300);
  for (int r = 0; r < repetitions; ++r)
    for (std::size_t k = 0; k < works.size(); ++k) least[k] = std::min(least[k], seconds(works[k]));
  return least;
}

void print(const std::string& what,
           const std::string& ratio,
           double value,
           const char* relation,
           double bound) {
  const bool holds = relation[0] == '>' ? value >= bound : value <= bound;
  fmt::print(
      R"({{"bench": "second-order", "case": "{}", "ratio": "{}", "value": {:.4g}, "bound": "{} {}", "holds": {}}})"
      "\n",
      what,
      ratio,
      value,
      relation,
      bound,
      holds);
}

void assembly(std::int64_t rows, std::int64_t dim, int repetitions) {
  const std::vector<float> values = make_values(rows, dim);
  const Table table = TableBuilder::dense(rows, dim, values, make_labels(rows), {});
  const GlmEngine engine(table, {});
  PerExampleSum sums(engine);
  const Vector w = Vector::Constant(dim, 0.05);
  const std::vector<double> doubles(values.begin(), values.end());
  std::vector<float> product(static_cast<std::size_t>(dim * dim));
  std::vector<double> product_double(product.size());
  Matrix H;
  Vector g;
  const double radius = 0.05 * static_cast<double>(dim) / 12;  // clips about half of the rows
  const auto times = least_times(
      {[&] { bench::plain_xtx_float(values.data(), rows, dim, product.data()); },
       [&] { bench::plain_xtx_double(doubles.data(), rows, dim, product_double.data()); },
       [&] { sums.clipped_hessians({}, w, radius, H); },
       [&] { sums.clipped_pairs({}, w, radius, 0.3, g, H); },
       [&] { sums.clipped_gradients({}, w, radius, g); }},
      repetitions);
  const std::string shape = fmt::format("{} x {}", rows, dim);
  const double flops = static_cast<double>(rows) * static_cast<double>(dim) *
                       static_cast<double>(dim);  // multiply-adds of the full product
  fmt::print(
      "{:>14}  XtX float {:.1f} ms, double {:.1f} ms ({:.1f} GFMA/s); clipped Hessian {:.1f} "
      "ms; joint {:.1f} ms; gradient {:.1f} ms\n",
      shape,
      1e3 * times[0],
      1e3 * times[1],
      flops / times[1] * 1e-9,
      1e3 * times[2],
      1e3 * times[3],
      1e3 * times[4]);
  print(
      shape, "rate of the clipped Hessian / Eigen's XtX in double", times[1] / times[2], ">=", 0.6);
  print(
      shape, "rate of the clipped Hessian / Eigen's XtX in float", times[0] / times[2], ">=", 0.6);
  print(shape, "joint pass / (Hessian + gradient)", times[3] / (times[2] + times[4]), "<=", 1.1);
}

/// m steps of Lanczos on a noisy operator of d = 20,000 parameters over sparse rows.
void lanczos(std::int64_t rows, std::int64_t dim, int products) {
  constexpr int kEntries = 40;
  std::minstd_rand random(3);
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> columns;
  std::vector<float> values;
  for (std::int64_t i = 0; i < rows; ++i) {
    std::int64_t column = 0;
    for (int e = 0; e < kEntries; ++e) {
      column += 1 + static_cast<std::int64_t>(random() %
                                              static_cast<std::uint64_t>(2 * dim / kEntries - 2));
      if (column >= dim) break;
      columns.push_back(static_cast<std::int32_t>(column));
      values.push_back(0.15f);
    }
    offsets.push_back(std::ssize(values));
  }
  const Table table = TableBuilder::sparse(dim, offsets, columns, values, make_labels(rows), {});
  const GlmEngine engine(table, {});
  PublicProblem problem;
  problem.n = rows;
  problem.dimension = dim;
  problem.row_norm = 1;
  problem.linear_rows = true;
  LedgerOptions options;
  options.budget.delta = 1e-6;
  options.plan = Event::gaussian(5, Relation::kZeroOut);
  options.planned_samples = products * (dim + 1);
  Ledger ledger = Ledger::open(options).value();
  PrivateOracle oracle(engine,
                       problem,
                       ledger,
                       Stream::seeded(1, Purpose::kSampling),
                       Stream::seeded(2, Purpose::kNoise));
  const Vector w = Vector::Constant(dim, 0.01);
  double pass = 0;
  Vector gradient;
  PerExampleSum sums(engine);
  pass = seconds([&] { sums.clipped_gradients({}, w, 1, gradient); });
  const double time = seconds([&] {
    auto op =
        oracle.hessian_operator({w, Sampling::full(), 1, 5, ClipRule::kGlm, products}).value();
    Vector q = gradient.normalized();
    Vector last = Vector::Zero(dim);
    double beta = 0;
    for (int k = 0; k < products; ++k) {
      Vector next = op->apply(q)->value() - beta * last;
      next -= q.dot(next) * q;
      beta = next.norm();
      last = q;
      q = next / beta;
    }
  });
  fmt::print(
      "{} rows, d = {}: {} Lanczos steps in {:.2f} s ({:.1f} ms per step; a gradient pass takes "
      "{:.1f} ms)\n",
      rows,
      dim,
      products,
      time,
      1e3 * time / products,
      1e3 * pass);
  print(fmt::format("Lanczos at d = {}", dim),
        "a step's time over a gradient pass",
        time / products / pass,
        "<=",
        std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace sotto

int main() {
  sotto::set_thread_count(1);
  sotto::lanczos(100'000, 20'000, 48);
  sotto::assembly(581'012, 54, 15);
  sotto::assembly(100'000, 500, 3);
}
