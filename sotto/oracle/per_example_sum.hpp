#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sotto/core/vector.hpp"
#include "sotto/objective/engine.hpp"
#include "sotto/oracle/api/query.hpp"
#include "sotto/oracle/api/sum_geometry.hpp"

namespace sotto {

/// The hot loop: blocks of examples that fit the cache, per-example norms, clipping, weighted sums;
/// threads take pieces of fixed ranges of units as they come (api/sum_geometry.hpp). A piece's
/// float64 sum is rounded to a fixed-point grid and added as an integer, so the result is
/// bit-identical for any number of threads and its rounding error has a bound that goes into the
/// sensitivity (per_example_sum.proof.md).
///
/// Scratch memory is kept between calls; nothing is allocated in the steady state.
class PerExampleSum {
 public:
  /// The engine must outlive this object. The shape is that of the public problem; without one, of
  /// a linear model with as many parameters.
  explicit PerExampleSum(const Engine& engine);
  PerExampleSum(const Engine& engine, const SumShape& shape);
  ~PerExampleSum();

  /// Which examples: all of them, or an increasing list.
  struct Batch {
    bool all = true;
    std::span<const std::int64_t> indices = {};
    std::int64_t range = 0;  ///< of the geometry that it was drawn for; 0: that of full batches
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

  /// Sum of losses less `floor`, each clipped to [0, clip]; a loss that is not finite counts as 0.
  double clipped_losses(const Batch& batch, const Vector& w, double clip, double floor = 0);

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

 private:
  struct Scratch;

  struct Piece {
    std::int64_t begin = 0;  ///< a unit, or a place in the batch's list
    std::int64_t count = 0;
  };

  /// For every piece: add_block(block, scratch) for its blocks in order, then hand_over(scratch,
  /// units), all on one thread.
  template <class BlockBody, class PieceBody>
  void for_each_piece(const Batch& batch,
                      SumKind kind,
                      const BlockBody& add_block,
                      const PieceBody& hand_over);
  /// The same where the piece's sum is a vector of terms of at most `radius`.
  template <class BlockBody>
  void sum_vectors(const Batch& batch, double radius, const BlockBody& add_block, Vector& sum);
  double sum_values(
      const Batch& batch, const Vector& w, const Vector* origin, double clip, double floor);
  /// A null unit has no norm and no loss: NaN, which gets weight 0 and counts as nothing.
  void silence_nulls(const Block& block, std::span<double> numbers, std::size_t per_unit = 1) const;
  void prepare_matrices();
  void add_matrix(Scratch& mine, double scale) const;
  void collect_matrix(double scale, Matrix& sum) const;
  static std::span<const double> as_span(const Vector& v) {
    return {v.data(), static_cast<std::size_t>(v.size())};
  }
  Scratch& scratch(int worker);
  void prepare(int workers, double scale);
  void collect(Vector& sum) const;

  const Engine& engine_;
  SumShape shape_;
  std::vector<Piece> pieces_;
  std::vector<std::unique_ptr<Scratch>> scratch_;
  double scale_ = 1;
};

}  // namespace sotto
