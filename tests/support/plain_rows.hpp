#pragma once

// Made-up rows, and the objective on them written out: gradient, Hessian, Frank-Wolfe gap and
// smallest eigenvalue by formulas of their own, so that what the library certifies is compared with
// code that it shares nothing with.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sotto/data/table.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/optimizer/registry.hpp"
#include "sotto/random/stream.hpp"

namespace sotto::testing {

class PlainRows {
 public:
  /// Entries of size 0.8 to 1, so that every row nearly has the norm that is declared; three labels
  /// in ten contradict the rest, so that a model that has learnt something has rows with steep
  /// losses.
  explicit PlainRows(LossSpec loss,
                     RegularizerKind regularizer = RegularizerKind::kL2,
                     double lambda = 0.02)
      : loss_(loss), regularizer_(regularizer), lambda_(lambda) {
    Stream random = Stream::seeded(9, Purpose::kData);
    for (int i = 0; i < kRows; ++i) {
      double score = 0;
      for (int j = 0; j < kDim; ++j) {
        const double size = 0.8 + 0.2 * random.uniform();
        values_.push_back(static_cast<float>(random.uniform() < 0.5 ? size : -size));
        score += (j % 2 == 0 ? 1.5 : -1.0) * static_cast<double>(values_.back());
      }
      const bool contrary = random.uniform() < 0.3;
      labels_.push_back(label(score, contrary));
    }
    table_ = TableBuilder::dense(kRows, kDim, values_, labels_, {});
    engine_ = std::make_unique<GlmEngine>(table_, loss_);
  }

  const Engine& engine() const { return *engine_; }

  PublicFacts facts(Relation relation) const {
    PublicFacts facts;
    facts.problem.n = kRows;
    facts.problem.dimension = kDim;
    facts.problem.row_norm = std::sqrt(static_cast<double>(kDim));
    facts.problem.row_max = 1;
    facts.problem.loss = loss_info(loss_);
    facts.problem.regularizer = Regularizer(regularizer_, lambda_);
    facts.problem.relation = relation;
    facts.problem.linear_rows = true;
    return facts;
  }

  Vector gradient(const Vector& w) const {
    Vector sum = Vector::Zero(kDim);
    for (int i = 0; i < kRows; ++i) sum += weight(i) * slope(i, w) / kRows * row(i);
    for (int j = 0; j < kDim; ++j) {
      const double square = 1 + w[j] * w[j];
      sum[j] += regularizer_ == RegularizerKind::kL2 ? lambda_ * w[j]
                                                     : 2 * lambda_ * w[j] / (square * square);
    }
    return sum;
  }

  /// Classification losses only.
  Matrix hessian(const Vector& w) const {
    Matrix sum = Matrix::Zero(kDim, kDim);
    for (int i = 0; i < kRows; ++i) {
      const double p = 1 / (1 + std::exp(-labels_[index(i)] * row(i).dot(w)));
      const double bend =
          loss_.kind == LossKind::kLogistic ? p * (1 - p) : p * (1 - p) * (2 * p - 1);
      sum += weight(i) * bend / kRows * (row(i) * row(i).transpose());
    }
    for (int j = 0; j < kDim; ++j) {
      const double square = w[j] * w[j];
      sum(j, j) += regularizer_ == RegularizerKind::kL2
                       ? lambda_
                       : 2 * lambda_ * (1 - 3 * square) / std::pow(1 + square, 3);
    }
    return sum;
  }

  static constexpr int kRows = 200;
  static constexpr int kDim = 5;

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  float label(double score, bool contrary) const {
    switch (loss_.kind) {
      case LossKind::kHuber:
        return static_cast<float>(contrary ? -3 * score : score);
      case LossKind::kPhaseRetrieval:
        return static_cast<float>(contrary ? 0 : score * score / 4);
      case LossKind::kPoisson:
        return static_cast<float>(contrary ? 0 : std::floor(std::exp(score / 4)));
      default:
        return (score > 0) != contrary ? 1.0F : -1.0F;
    }
  }
  Vector row(int i) const {
    Vector x(kDim);
    for (int j = 0; j < kDim; ++j) x[j] = static_cast<double>(values_[index(kDim * i + j)]);
    return x;
  }
  double weight(int i) const {
    return labels_[index(i)] > 0 ? loss_.weights.positive : loss_.weights.negative;
  }
  /// The derivative of row i's unweighted loss by its prediction.
  double slope(int i, const Vector& w) const {
    const double z = row(i).dot(w);
    const auto y = static_cast<double>(labels_[index(i)]);
    const double p = 1 / (1 + std::exp(-y * z));
    switch (loss_.kind) {
      case LossKind::kLogistic:
        return -y * (1 - p);
      case LossKind::kSigmoid:
        return -y * p * (1 - p);
      case LossKind::kHuber:
        return std::clamp(z - y, -loss_.threshold, loss_.threshold);
      case LossKind::kPhaseRetrieval:
        return z * (z * z - std::clamp(y, 0.0, loss_.threshold));
      case LossKind::kPoisson:
        return std::min(std::exp(z), loss_.threshold) - std::clamp(y, 0.0, loss_.threshold);
      case LossKind::kSquared:
      case LossKind::kOwn:  // no rows of these tests have one
        break;
    }
    return z - y;
  }

  LossSpec loss_;
  RegularizerKind regularizer_;
  double lambda_;
  std::vector<float> values_, labels_;
  Table table_;
  std::unique_ptr<GlmEngine> engine_;
};

/// The smallest eigenvalue, by Jacobi's rotations.
inline double smallest_eigenvalue(Matrix a) {
  for (int sweep = 0; sweep < 60; ++sweep)
    for (Eigen::Index p = 0; p < a.rows(); ++p)
      for (Eigen::Index q = p + 1; q < a.rows(); ++q) {
        if (std::abs(a(p, q)) < 1e-300) continue;
        const double angle = 0.5 * std::atan2(2 * a(p, q), a(q, q) - a(p, p));
        const double c = std::cos(angle), s = std::sin(angle);
        Matrix turn = Matrix::Identity(a.rows(), a.rows());
        turn(p, p) = turn(q, q) = c;
        turn(p, q) = s;
        turn(q, p) = -s;
        a = (turn.transpose() * a * turn).eval();
      }
  return a.diagonal().minCoeff();
}

}  // namespace sotto::testing
