#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sotto/core/vector.hpp"
#include "sotto/objective/engine.hpp"
#include "sotto/oracle/api/query.hpp"

namespace sotto {

/// The hot loop: blocks of examples that fit the cache, per-example norms, clipping, weighted sums;
/// threads take blocks as they come. A block's float64 sum is rounded to a fixed-point grid and
/// added as an integer, so the result is bit-identical for any number of threads and its rounding
/// error has a bound that goes into the sensitivity (per_example_sum.proof.md).
///
/// Scratch memory is kept between calls; nothing is allocated in the steady state.
class PerExampleSum {
 public:
  /// The engine must outlive this object.
  explicit PerExampleSum(const Engine& engine);
  ~PerExampleSum();

  /// Which examples: all of them, or a list of distinct indices.
  struct Batch {
    bool all = true;
    std::span<const std::int64_t> indices;
  };

  /// Sum of gradients, each clipped to `radius` (infinity: not clipped).
  void clipped_gradients(const Batch& batch, const Vector& w, double radius, Vector& sum);

  /// The same for a network, each of its L layers clipped to radius / sqrt(L).
  void clipped_layer_gradients(const Batch& batch, const Vector& w, double radius, Vector& sum);

  /// Twice the sum over the units of the last clipped_gradients or clipped_layer_gradients of (1 if
  /// the whole gradient's norm is at most the radius, else 0) - 1/2: exact.
  std::int64_t unclipped_less_clipped() const;

  /// Sum of contributions of gradient pairs, each of norm at most clip.reach() (infinite radii: not
  /// clipped). One visit of the rows.
  void clipped_gradient_pairs(
      const Batch& batch, const Vector& w, const Vector& before, const PairClip& clip, Vector& sum);

  /// Sum of losses, each clipped to [0, clip]; a loss that is not finite counts as 0.
  double clipped_losses(const Batch& batch, const Vector& w, double clip);

  /// Sum of losses at w less those at `origin`, each difference clipped to [-clip, clip].
  double clipped_differences(const Batch& batch,
                             const Vector& w,
                             const Vector& origin,
                             double clip);

  /// Sum of Hessians, each clipped to `radius` in the Frobenius norm; symmetric to the last bit.
  /// The engine must have Hessians.
  void clipped_hessians(const Batch& batch, const Vector& w, double radius, Matrix& sum);

  /// Sums of gradients and Hessians of the same units in one visit of the rows, each pair clipped
  /// to `radius` in the norm sqrt(|g|^2 + |H|_F^2 / hessian_scale^2).
  void clipped_pairs(const Batch& batch,
                     const Vector& w,
                     double radius,
                     double hessian_scale,
                     Vector& gradient,
                     Matrix& hessian);

  /// The sum of clipped_hessians times v, a unit vector, without the matrix. Its rounding error is
  /// that of a sum of gradients; a unit adds at most radius x (1 + 2 parameters x 2^-52).
  void clipped_hessian_products(
      const Batch& batch, const Vector& w, double radius, const Vector& v, Vector& sum);

  /// Bound on the distance (L2) between the computed sum and the exact sum of clipped terms, for
  /// any data set of at most n examples.
  double rounding_error(std::int64_t n, double radius) const;
  /// The same for Hessians, in the Frobenius norm; and for a pair, in its norm, if the Hessian's
  /// part counts 1 / hessian_scale.
  double hessian_rounding_error(std::int64_t n, double radius) const;
  double pair_rounding_error(std::int64_t n, double radius, double hessian_scale) const;

 private:
  struct Scratch;

  /// Calls body(block, scratch, last) for all blocks; `group` consecutive ones go to one thread, in
  /// order, and `last` is true for the last of them.
  template <class BlockBody>
  void for_each_block(const Batch& batch, const BlockBody& body, std::int64_t group = 1);
  double sum_values(const Batch& batch, const Vector& w, const Vector* origin, double clip);
  static double rounding_error(std::int64_t n,
                               double radius,
                               std::int64_t block,
                               std::int64_t entries);
  /// Blocks whose Hessians are added in float64 before they go to the grid.
  std::int64_t hessian_group() const;
  void prepare_matrices();
  void add_matrix(Scratch& mine, double scale) const;
  void collect_matrix(double scale, Matrix& sum) const;
  static std::span<const double> as_span(const Vector& v) {
    return {v.data(), static_cast<std::size_t>(v.size())};
  }
  Scratch& scratch(int worker);
  /// `narrow`: totals have room in 64 bits.
  void prepare(int workers, double scale, bool narrow = false);
  std::int64_t units_in(const Batch& batch) const;
  bool is_narrow(const Batch& batch, double radius) const;
  void collect(Vector& sum) const;

  const Engine& engine_;
  std::vector<std::unique_ptr<Scratch>> scratch_;
  double scale_ = 1;
  int workers_ = 1;
};

}  // namespace sotto
