#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sotto/data/table.hpp"
#include "sotto/objective/engine.hpp"
#include "sotto/objective/network/network_kernels.hpp"
#include "sotto/objective/network/spec.hpp"

namespace sotto {

namespace network {
class Layer;
}

/// The engine of networks: float32 forward and backward passes of a few examples at a time, inside
/// the cache; per-example gradients of convolutions and normalizations are kept as they are for one
/// block, those of linear layers as two factors. Norms and sums are float64.
///
/// Parameters are those of all layers that are not frozen, in the order of parameter_ranges.
///
/// Rounding (network.proof.md): an example's gradient is *defined* by the float32 numbers that were
/// computed for it; norms are of these numbers, rounded up, and the same numbers are added. They
/// don't depend on the block, the thread or the other examples.
///
/// Gradient pairs: two passes; the difference of a dense gradient is the rounded difference of its
/// float32 numbers, that of a linear layer (δ - δ') ⊗ a + δ' ⊗ (a - a'), so that nothing cancels
/// after the passes.
///
/// Persons: the gradient of a unit of several rows is the sum of its rows' in float64, made chunk
/// by chunk; its norm is of that very sum, and it is added as one (units.cpp).
///
/// Cost: three times the forward pass, as for any training step, and about a tenth for norms and
/// sums; a unit of several rows also costs three passes over as many numbers as there are
/// parameters. Memory of a workspace: a block's gradients, a few megabytes, whatever the batch and
/// however many rows a person has.
class NetworkEngine final : public Engine {
 public:
  /// The table must outlive the engine: dense, as many columns as the network has inputs (channel
  /// by channel, each row by row); labels 0 … k-1 for softmax with k outputs, ±1 for logistic.
  /// kBadData or kUsage otherwise. `frozen`: a parameter vector of the whole network, of which the
  /// frozen layers' part is used; may be empty if no layer is frozen.
  static Expected<std::unique_ptr<NetworkEngine>> make(
      const Table& table,
      const NetworkSpec& spec,
      const Vector& frozen = {},
      const network_kernels::Kernels& kernels = network_kernels::fastest());
  /// The same, of a table that the engine keeps.
  static Expected<std::unique_ptr<NetworkEngine>> make(std::unique_ptr<const Table> table,
                                                       const NetworkSpec& spec);
  ~NetworkEngine() override;

  Capabilities offers() const override {
    return {
        Capability::kGradients, Capability::kPairs, Capability::kCoordinates, Capability::kLosses};
  }
  PrivateCount units() const override { return table_.units(); }
  std::span<const std::uint8_t> null_units() const override { return table_.null_units(); }
  std::int64_t parameters() const override { return parameters_; }
  std::int64_t block_size() const override { return block_size_; }
  std::unique_ptr<Workspace> make_workspace() const override;

  void evaluate_gradients(const Block& block,
                          std::span<const double> w,
                          Workspace& workspace,
                          std::span<double> norms) const override;
  void add_gradients(Workspace& workspace,
                     std::span<const double> weights,
                     std::span<double> sum) const override;

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

  std::int64_t layers() const override { return static_cast<std::int64_t>(trained_.size()); }
  void layer_norms(Workspace& workspace, std::span<double> norms) const override;
  void add_layer_gradients(Workspace& workspace,
                           std::span<const double> weights,
                           std::span<double> sum) const override;

  void evaluate_losses(const Block& block,
                       std::span<const double> w,
                       Workspace& workspace,
                       std::span<double> losses) const override;

  /// The last layer's outputs, outputs() for each of the block's *rows*, whoever they belong to.
  /// For public rows only.
  void evaluate_outputs(const Block& block,
                        std::span<const double> w,
                        Workspace& workspace,
                        std::span<double> outputs) const;
  std::int64_t outputs() const { return outputs_; }

  /// What the layers before the first trained one give, frozen_shape().size() numbers for each of
  /// the block's *rows*, in the order channel, row, column.
  void evaluate_frozen(const Block& block, Workspace& workspace, std::span<float> features) const;
  ImageShape frozen_shape() const;

 private:
  struct Scratch;
  struct Point;
  struct Storage;
  /// A layer whose parameters are trained.
  struct Trained {
    std::size_t layer = 0;
    std::int64_t begin = 0;  ///< among the trained parameters
    std::int64_t count = 0;
    std::vector<std::int32_t> places;
    bool in_order = false;    ///< places are 0, 1, 2, …
    std::int64_t summed = 0;  ///< where its part of a summed gradient begins
  };
  /// Where a unit's gradient is: at a place of the storage, or, of several rows, summed.
  struct Member {
    std::int64_t place = 0;  ///< in the storage, or among the sums
    bool summed = false;
  };

  NetworkEngine(const Table& table,
                const NetworkSpec& spec,
                const network_kernels::Kernels& kernels);
  void build(const Vector& frozen);

  const Point& point_at(std::span<const double> w, Scratch& scratch, std::size_t which) const;
  void prefetch_input(const Block& block, std::int64_t example) const;
  void load_input(std::int64_t row, float* input) const;
  std::int64_t fetch_inputs(const Block& block,
                            std::int64_t begin,
                            std::int64_t count,
                            std::int64_t place,
                            Scratch& scratch) const;
  /// `place`: of the first example among the workspace's inputs.
  void forward(const Point& point,
               const Block& block,
               std::int64_t begin,
               std::int64_t count,
               std::int64_t place,
               Scratch& scratch) const;
  void backward(const Point& point,
                std::int64_t place,
                std::int64_t count,
                Storage& storage,
                Scratch& scratch) const;
  /// Rows [begin, begin + count) of the list; their gradients go to the storage, from `place` on.
  void run_chunk(const Point& point,
                 const Block& rows,
                 std::int64_t begin,
                 std::int64_t count,
                 std::int64_t place,
                 Storage& storage,
                 Scratch& scratch) const;
  /// run(rows, begin, count, place) for the rows of all units that are one row, whose gradients
  /// stay in the storage, and then for those of all others, which are added up chunk by chunk.
  template <class Run>
  void run_block(const Block& block, Scratch& scratch, const Run& run) const;
  template <class Wanted, class Body>
  void for_each_row_chunk(const Block& block,
                          Scratch& scratch,
                          const Wanted& wanted,
                          const Body& body) const;
  void select_members(const Block& block, Scratch& scratch) const;
  Member member(const Scratch& scratch, std::int64_t k) const;
  void add_chunk_to_sums(Scratch& scratch) const;
  /// One layer's part of a summed gradient, or (second) of a summed difference.
  std::span<double> summed(const Trained& trained,
                           Scratch& scratch,
                           std::size_t which,
                           std::int64_t place) const;
  std::span<const double> summed(const Trained& trained,
                                 const Scratch& scratch,
                                 std::size_t which,
                                 std::int64_t place) const;
  double summed_pair_square(const Trained& trained,
                            const Scratch& scratch,
                            double gradient,
                            double difference,
                            std::int64_t place,
                            double& rounding) const;
  double loss_of(const float* outputs, float label) const;
  double class_weight(float label) const;
  void slopes_of(const float* outputs, float label, float* slopes) const;
  float label_of(std::int64_t row) const { return table_.labels()[static_cast<std::size_t>(row)]; }
  /// Whether the layer's right factors are the examples' inputs, which are not kept a second time.
  bool shares_inputs(const Trained& trained) const { return reads_rows_ && trained.layer == 0; }
  const float* right_of(const Trained& trained, const Scratch& scratch, std::int64_t place) const;
  /// |a|² of the example at a place, never below (1 - 2(P + 8)u) times the true one.
  double input_square(const Trained& trained, const Scratch& scratch, std::int64_t place) const;
  double square(const Trained& trained, const Scratch& scratch, Member member) const;
  double pair_square(const Trained& trained,
                     const Scratch& scratch,
                     double gradient,
                     double difference,
                     std::int64_t place,
                     double& rounding) const;
  double round_up(double norm) const;
  double pair_rounding() const;

  /// Adds the terms that the scratch lists to a layer's total, in their order, and empties the
  /// list.
  void add_terms(const Trained& trained, Scratch& scratch, double* total) const;
  void add_pair_terms(const Trained& trained, Scratch& scratch, double* total) const;
  /// sum += Σ_k weights[k · stride] · gradient of example k of one layer.
  void add_trained(const Trained& trained,
                   Scratch& scratch,
                   std::span<const double> weights,
                   std::size_t stride,
                   std::span<double> sum) const;
  void add_biases(const Trained& trained,
                  const Scratch& scratch,
                  std::int64_t rows,
                  double* total) const;
  /// Where a layer's sum is made, in the kernels' order: in place, if that is the parameters'.
  double* open_total(const Trained& trained, Scratch& scratch, std::span<double> sum) const;
  void close_total(const Trained& trained, const Scratch& scratch, std::span<double> sum) const;
  Storage make_storage() const;

  std::unique_ptr<const Table> kept_;  ///< null: somebody else's
  const Table& table_;
  NetworkSpec spec_;
  const network_kernels::Kernels& kernels_;
  std::vector<std::unique_ptr<network::Layer>> layers_;
  std::vector<ParameterRange> ranges_;  ///< of layers_, in the whole network's parameter vector
  std::vector<Trained> trained_;
  std::vector<int> trained_of_;  ///< for each layer its number among trained_, or -1
  Vector frozen_;
  std::vector<std::int32_t> input_places_;        ///< of the table's columns
  bool input_in_order_ = false;                   ///< places are 0, 1, 2, …
  std::vector<float> input_scale_, input_shift_;  ///< by column; empty: as it stands
  bool reads_rows_ = false;     ///< the first layer takes inputs one by one, wherever they lie...
  bool rows_in_place_ = false;  ///< ...and the table's rows are these inputs
  std::size_t first_tail_ = 0;  ///< layers from here on take a whole chunk at a time
  std::size_t first_trained_ = 0;  ///< slopes are not wanted below this layer
  std::int64_t parameters_ = 0;
  std::int64_t outputs_ = 0;
  std::int64_t block_size_ = 0;
  std::int64_t capacity_ =
      0;  ///< places of the storage: a block's, and with persons one chunk more
  std::int64_t summed_size_ = 0;  ///< numbers of a summed gradient, in the kernels' order
};

}  // namespace sotto
