#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "sotto/data/table.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/optimizer/registry.hpp"
#include "sotto/oracle/exact_oracle.hpp"

namespace sotto::testing {

/// Logistic loss + 0.05 |w|^2 on four rows.
struct Small {
  std::vector<float> rows = {1, 0, 0.5F, 0, 2, -1, 1, 1, 1, -0.5F, 0.25F, 0};
  std::vector<float> labels = {1, -1, 1, -1};
  Table table = TableBuilder::dense(4, 3, rows, labels, {});
  GlmEngine engine{table, {}};

  PublicFacts facts() const {
    PublicFacts facts;
    facts.problem.n = 4;
    facts.problem.dimension = 3;
    facts.problem.row_norm = 2.3;
    facts.problem.linear_rows = true;
    facts.problem.regularizer = Regularizer(RegularizerKind::kL2, 0.1);
    facts.single_release_multiplier = 0;  // no budget to keep: answers are exact
    return facts;
  }
  Eigen::Vector3d row(std::size_t i) const {
    return {rows[3 * i], rows[3 * i + 1], rows[3 * i + 2]};
  }
  Vector gradient(const Vector& w) const {
    Vector g = 0.1 * w;
    for (std::size_t i = 0; i < 4; ++i) {
      const auto y = static_cast<double>(labels[i]);
      g -= y / (1 + std::exp(y * row(i).dot(w))) * row(i) / 4;
    }
    return g;
  }
  Matrix hessian(const Vector& w) const {
    Matrix H = 0.1 * Matrix::Identity(3, 3);
    for (std::size_t i = 0; i < 4; ++i) {
      const double p = 1 / (1 + std::exp(-row(i).dot(w)));
      H += p * (1 - p) * row(i) * row(i).transpose() / 4;
    }
    return H;
  }
  double objective(const Vector& w) const {
    double sum = 0.05 * w.squaredNorm();
    for (std::size_t i = 0; i < 4; ++i)
      sum += std::log1p(std::exp(-static_cast<double>(labels[i]) * row(i).dot(w))) / 4;
    return sum;
  }
  /// G of F: R²/4 + 0.1.
  double smoothness() const { return 2.3 * 2.3 / 4 + 0.1; }

  OptimizerResult run(const std::string& method, const GivenOptions& options) const {
    return run_with(facts(), method, options);
  }
  OptimizerResult run_with(const PublicFacts& facts,
                           const std::string& method,
                           const GivenOptions& options) const {
    const auto configured = (*find_method(method))->configure(options, facts);
    EXPECT_TRUE(configured) << configured.error().message;
    ExactOracle oracle(engine, facts.problem, Stream::seeded(1, Purpose::kSampling));
    NoObserver observer;
    auto result = configured->optimizer->run(oracle, 1, observer);
    EXPECT_TRUE(result) << result.error().message;
    return *result;
  }
};

/// (<x, w>^2 - y)^2 / 4 with y = <x, w*>^2: w = 0 is a strict saddle, ±w* are minima.
struct Saddle {
  static constexpr int kRows = 60, kDim = 4;
  std::vector<float> rows, labels;
  Vector truth = Eigen::Vector4d(1, -0.5, 0.25, 0.75);
  LossSpec loss{LossKind::kPhaseRetrieval, 4};

  Saddle() {
    Stream random = Stream::seeded(3, Purpose::kData);
    for (int i = 0; i < kRows; ++i) {
      Vector x(kDim);
      for (double& v : x) v = 2 * random.uniform() - 1;
      x.normalize();
      double inner = 0;
      for (int j = 0; j < kDim; ++j) {
        rows.push_back(static_cast<float>(0.999 * x[j]));
        inner += 0.999 * x[j] * truth[j];
      }
      labels.push_back(static_cast<float>(inner * inner));
    }
  }
  PublicFacts facts() const {
    PublicFacts facts;
    facts.problem.n = kRows;
    facts.problem.dimension = kDim;
    facts.problem.row_norm = 1;
    facts.problem.loss = loss_info(loss);
    return facts;
  }
  Expected<OptimizerResult> run(const std::string& method, GivenOptions options) const {
    options.insert(options.end(),
                   {{"smoothness", "6"},
                    {"hessian_lipschitz", "6"},
                    {"clip_radius", "100"},
                    {"hessian_clip", "100"},
                    {"gradient_tolerance", "0.01"},
                    {"curvature_tolerance", "0.02"},
                    {"gap", "1"}});
    const Table table = TableBuilder::dense(kRows, kDim, rows, labels, {});
    const GlmEngine engine(table, loss);
    const auto configured = (*find_method(method))->configure(options, facts());
    if (!configured) return tl::unexpected<Error>(configured.error());
    ExactOracle oracle(engine, facts().problem, Stream::seeded(1, Purpose::kSampling));
    NoObserver observer;
    return configured->optimizer->run(oracle, 1, observer);
  }
};

}  // namespace sotto::testing
