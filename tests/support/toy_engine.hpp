#pragma once

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "sotto/objective/engine.hpp"

namespace sotto::testing {

/// An engine whose examples have gradients (and losses) that the test gives, independent of w: to
/// test what is built on engines without any model.
class FixedGradients : public Engine {
 public:
  explicit FixedGradients(std::vector<std::vector<double>> gradients, std::int64_t block = 7)
      : gradients_(std::move(gradients)), block_(block) {}

  Capabilities offers() const override {
    return {Capability::kGradients,
            Capability::kPairs,
            Capability::kCoordinates,
            Capability::kHessians,
            Capability::kLosses};
  }
  PrivateCount units() const override { return static_cast<std::int64_t>(gradients_.size()); }
  std::int64_t parameters() const override {
    return static_cast<std::int64_t>(gradients_.front().size());
  }
  std::int64_t block_size() const override { return block_; }

  struct Mine : Workspace {
    Block block;
  };
  std::unique_ptr<Workspace> make_workspace() const override { return std::make_unique<Mine>(); }

  void evaluate_gradients(const Block& block,
                          std::span<const double>,
                          Workspace& workspace,
                          std::span<double> norms) const override {
    static_cast<Mine&>(workspace).block = block;
    for (std::int64_t k = 0; k < block.count; ++k) {
      double square = 0;
      for (const double g : gradient(block[k])) square += g * g;
      norms[static_cast<std::size_t>(k)] = std::sqrt(square) * (1 + 1e-14);
    }
  }

  void add_gradients(Workspace& workspace,
                     std::span<const double> weights,
                     std::span<double> sum) const override {
    const Block& block = static_cast<Mine&>(workspace).block;
    for (std::int64_t k = 0; k < block.count; ++k) {
      const double weight = weights[static_cast<std::size_t>(k)];
      if (weight == 0) continue;
      for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += weight * gradient(block[k])[j];
    }
  }

  /// Gradients don't depend on w: all differences are 0.
  void evaluate_gradient_pairs(const Block& block,
                               std::span<const double>,
                               std::span<const double>,
                               Workspace& workspace) const override {
    static_cast<Mine&>(workspace).block = block;
  }
  void pair_norms(Workspace& workspace,
                  double gradient,
                  double,
                  std::span<double> norms) const override {
    evaluate_gradients(static_cast<Mine&>(workspace).block, {}, workspace, norms);
    for (double& norm : norms) norm = gradient == 0 ? 0 : norm * std::abs(gradient);
  }
  void add_gradient_pairs(Workspace& workspace,
                          std::span<const double> gradient,
                          std::span<const double>,
                          std::span<double> sum) const override {
    add_gradients(workspace, gradient, sum);
  }

  /// Hessians are g g'.
  bool is_convex() const override { return true; }
  void evaluate_hessians(const Block& block,
                         std::span<const double> w,
                         Workspace& workspace,
                         std::span<double> norms) const override {
    evaluate_gradients(block, w, workspace, norms);
    for (double& norm : norms) norm *= norm;
  }
  void add_hessians(Workspace& workspace,
                    std::span<const double> weights,
                    std::span<double> sum) const override {
    const Block& block = static_cast<Mine&>(workspace).block;
    const std::size_t d = gradients_.front().size();
    for (std::int64_t k = 0; k < block.count; ++k)
      if (const double weight = weights[static_cast<std::size_t>(k)]; weight != 0)
        for (std::size_t i = 0; i < d; ++i)
          for (std::size_t j = 0; j <= i; ++j)
            sum[i * d + j] += weight * gradient(block[k])[i] * gradient(block[k])[j];
  }
  void evaluate_gradients_and_hessians(const Block& block,
                                       std::span<const double> w,
                                       Workspace& workspace,
                                       std::span<double> gradient_norms,
                                       std::span<double> hessian_norms) const override {
    evaluate_gradients(block, w, workspace, gradient_norms);
    for (std::size_t k = 0; k < hessian_norms.size(); ++k)
      hessian_norms[k] = gradient_norms[k] * gradient_norms[k];
  }

  void evaluate_losses(const Block& block,
                       std::span<const double>,
                       Workspace&,
                       std::span<double> losses) const override {
    for (std::int64_t k = 0; k < block.count; ++k)
      losses[static_cast<std::size_t>(k)] = gradient(block[k])[0];
  }

 private:
  const std::vector<double>& gradient(std::int64_t i) const {
    return gradients_[static_cast<std::size_t>(i)];
  }
  std::vector<std::vector<double>> gradients_;
  std::int64_t block_;
};

/// The same for methods that must do without Hessians.
class FixedGradientsOnly final : public FixedGradients {
 public:
  using FixedGradients::FixedGradients;
  Capabilities offers() const override {
    return FixedGradients::offers().without({Capability::kHessians});
  }
};

}  // namespace sotto::testing
