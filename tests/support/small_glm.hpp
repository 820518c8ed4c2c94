#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "sotto/data/table.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/optimizer/registry.hpp"

namespace sotto::testing {

/// A logistic or least-squares problem on four rows (or copies of them), with everything that a
/// plainly written method needs computed plainly.
class SmallGlm {
 public:
  explicit SmallGlm(LossKind kind, std::int64_t copies = 1, double l2 = 0.1)
      : loss_{kind}, l2_(l2) {
    for (std::int64_t c = 0; c < copies; ++c) {
      for (const float x :
           {1.0F, 0.0F, 0.5F, 0.0F, 2.0F, -1.0F, 1.0F, 1.0F, 1.0F, -0.5F, 0.25F, 0.0F})
        values_.push_back(x);
      for (const float y : {1.0F, -1.0F, 1.0F, -1.0F}) labels_.push_back(y);
    }
    table_ = TableBuilder::dense(n(), 3, values_, labels_, {});
    engine_ = std::make_unique<GlmEngine>(table_, loss_);
  }

  std::int64_t n() const { return static_cast<std::int64_t>(labels_.size()); }
  const Engine& engine() const { return *engine_; }
  Vector origin() const { return Vector::Zero(engine_->parameters()); }

  PublicFacts facts(Relation relation = Relation::kZeroOut) const {
    PublicFacts facts;
    facts.problem.n = n();
    facts.problem.dimension = 3;
    facts.problem.row_norm = 2.3;
    facts.problem.loss = loss_info(loss_);
    facts.problem.regularizer = Regularizer(RegularizerKind::kL2, l2_);
    facts.problem.relation = relation;
    facts.problem.linear_rows = true;
    facts.single_release_multiplier = 1;
    facts.coin = 0.3;
    return facts;
  }

  /// Of record i's loss.
  Vector gradient(std::int64_t i, const Vector& w) const {
    const Vector x = row(i);
    const double y = label(i);
    if (loss_.kind == LossKind::kSquared) return (x.dot(w) - y) * x;
    return -y / (1 + std::exp(y * x.dot(w))) * x;
  }
  /// Of the mean loss, without the regularizer.
  Vector data_gradient(const Vector& w) const {
    Vector sum = origin();
    for (std::int64_t i = 0; i < n(); ++i) sum += gradient(i, w);
    return sum / static_cast<double>(n());
  }
  Vector regularizer_gradient(const Vector& w) const { return l2_ * w; }
  Vector full_gradient(const Vector& w) const { return data_gradient(w) + regularizer_gradient(w); }
  double objective(const Vector& w) const {
    double sum = 0;
    for (std::int64_t i = 0; i < n(); ++i) {
      const double z = row(i).dot(w);
      sum += loss_.kind == LossKind::kSquared ? 0.5 * (z - label(i)) * (z - label(i))
                                              : std::log1p(std::exp(-label(i) * z));
    }
    return sum / static_cast<double>(n()) + 0.5 * l2_ * w.squaredNorm();
  }

 private:
  Vector row(std::int64_t i) const {
    Vector x = origin();
    for (Eigen::Index j = 0; j < x.size(); ++j)
      x[j] = static_cast<double>(values_[static_cast<std::size_t>(3 * i + j)]);
    return x;
  }
  double label(std::int64_t i) const {
    return static_cast<double>(labels_[static_cast<std::size_t>(i)]);
  }

  LossSpec loss_;
  double l2_;
  std::vector<float> values_;
  std::vector<float> labels_;
  Table table_;
  std::unique_ptr<GlmEngine> engine_;
};

}  // namespace sotto::testing
