#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sotto/core/vector.hpp"
#include "sotto/objective/engine.hpp"
#include "sotto/random/stream.hpp"

namespace sotto {

/// Any engine with canaries after its own units. A canary's gradient is a random direction, the
/// same wherever the model is, and so long that every clip radius is reached; one that was not
/// inserted is there as a unit without any effect. Its loss and its Hessian are 0.
class CanaryEngine final : public Engine {
 public:
  /// Draws the directions and, by fair coins, which canaries are inserted. `inner` must outlive
  /// this.
  CanaryEngine(const Engine& inner, std::int64_t canaries, Stream& random);
  /// One canary that was not inserted: what zeroing a unit out leaves of it.
  explicit CanaryEngine(const Engine& inner);

  std::int64_t canaries() const { return static_cast<std::int64_t>(inserted_.size()); }
  bool inserted(std::int64_t canary) const { return inserted_[static_cast<std::size_t>(canary)]; }
  const Vector& direction(std::int64_t canary) const {
    return directions_[static_cast<std::size_t>(canary)];
  }
  /// The sum of the inserted canaries' directions.
  Vector pull() const;

  PrivateCount units() const override { return inner_.units() + canaries(); }
  std::int64_t parameters() const override { return inner_.parameters(); }
  std::int64_t block_size() const override { return inner_.block_size(); }
  std::span<const std::uint8_t> null_units() const override { return nulls_; }
  /// A canary is no row, but clipped to the same radius, which is all that zero-out rests on, the
  /// only relation that audits with canaries have.
  bool is_linear_within(double norm) const override { return inner_.is_linear_within(norm); }
  std::unique_ptr<Workspace> make_workspace() const override;
  void evaluate_gradients(const Block& block,
                          std::span<const double> w,
                          Workspace& workspace,
                          std::span<double> norms) const override;
  void add_gradients(Workspace& workspace,
                     std::span<const double> weights,
                     std::span<double> sum) const override;
  /// A canary's gradient does not change with the model: its difference is 0.
  void evaluate_gradient_pairs(const Block& block,
                               std::span<const double> w,
                               std::span<const double> before,
                               Workspace& workspace) const override;
  void pair_norms(Workspace& workspace,
                  double gradient,
                  double difference,
                  std::span<double> norms) const override;
  void add_gradient_pairs(Workspace& workspace,
                          std::span<const double> gradient,
                          std::span<const double> difference,
                          std::span<double> sum) const override;
  /// Only while no canary is inserted: how a direction is divided among layers is not known here.
  std::int64_t layers() const override { return inner_.layers(); }
  void layer_norms(Workspace& workspace, std::span<double> norms) const override;
  void add_layer_gradients(Workspace& workspace,
                           std::span<const double> weights,
                           std::span<double> sum) const override;
  void evaluate_losses(const Block& block,
                       std::span<const double> w,
                       Workspace& workspace,
                       std::span<double> losses) const override;
  Capabilities offers() const override {
    return inner_.offers().without({Capability::kPredictions});
  }
  bool is_convex() const override { return inner_.is_convex(); }
  void evaluate_hessians(const Block& block,
                         std::span<const double> w,
                         Workspace& workspace,
                         std::span<double> norms) const override;
  void add_hessians(Workspace& workspace,
                    std::span<const double> weights,
                    std::span<double> sum) const override;
  void add_hessian_products(Workspace& workspace,
                            std::span<const double> weights,
                            std::span<const double> v,
                            std::span<double> sum) const override;
  void evaluate_gradients_and_hessians(const Block& block,
                                       std::span<const double> w,
                                       Workspace& workspace,
                                       std::span<double> gradient_norms,
                                       std::span<double> hessian_norms) const override;

 private:
  struct Mine;
  /// Splits the block into the inner engine's units and the canaries.
  void split(const Block& block, Mine& mine) const;
  /// The inner units' numbers, `each` a unit, to their places in the block, or from there.
  static void scatter(const Mine& mine,
                      std::span<const double> numbers,
                      std::span<double> all,
                      std::size_t each = 1);
  static std::span<const double> gather(const Mine& mine,
                                        std::span<const double> all,
                                        std::vector<double>& numbers,
                                        std::size_t each = 1);
  double canary_norm(std::int64_t canary) const;
  /// The inner engine's nulls, and the canaries that are not inserted.
  void mark_nulls();
  /// sum += weights[k] · the gradient of each inserted canary k of the block.
  void add_canaries(const Mine& mine, std::span<const double> weights, std::span<double> sum) const;

  const Engine& inner_;
  std::vector<Vector> directions_;
  std::vector<bool> inserted_;
  std::vector<std::uint8_t> nulls_;
};

}  // namespace sotto
