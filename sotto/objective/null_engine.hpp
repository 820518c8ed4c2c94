#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sotto/objective/engine.hpp"

namespace sotto {

/// Units that are all null: whatever is asked of them, the answer is 0, and a release of it is its
/// noise alone. For methods that ask for gradients.
class NullEngine final : public Engine {
 public:
  NullEngine(std::int64_t units, std::int64_t parameters);

  Capabilities offers() const override { return {Capability::kGradients, Capability::kPairs}; }
  PrivateCount units() const override { return std::ssize(nulls_); }
  std::int64_t parameters() const override { return parameters_; }
  std::int64_t block_size() const override { return 4096; }
  std::span<const std::uint8_t> null_units() const override { return nulls_; }
  /// There is no row.
  bool is_linear_within(double) const override { return true; }
  bool is_convex() const override { return true; }
  std::unique_ptr<Workspace> make_workspace() const override;
  void evaluate_gradients(const Block& block,
                          std::span<const double> w,
                          Workspace& workspace,
                          std::span<double> norms) const override;
  void add_gradients(Workspace&, std::span<const double>, std::span<double>) const override {}
  void evaluate_gradient_pairs(const Block&,
                               std::span<const double>,
                               std::span<const double>,
                               Workspace&) const override {}
  void pair_norms(Workspace& workspace,
                  double gradient,
                  double difference,
                  std::span<double> norms) const override;
  void add_gradient_pairs(Workspace&,
                          std::span<const double>,
                          std::span<const double>,
                          std::span<double>) const override {}
  void evaluate_losses(const Block& block,
                       std::span<const double> w,
                       Workspace& workspace,
                       std::span<double> losses) const override;

 private:
  std::vector<std::uint8_t> nulls_;
  std::int64_t parameters_;
};

}  // namespace sotto
