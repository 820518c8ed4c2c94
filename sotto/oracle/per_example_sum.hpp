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

  /// Sum of contributions of gradient pairs, each of norm at most clip.reach() (infinite radii: not
  /// clipped). One visit of the rows.
  void clipped_gradient_pairs(
      const Batch& batch, const Vector& w, const Vector& before, const PairClip& clip, Vector& sum);

  /// Sum of losses, each clipped to [0, clip]; a loss that is not finite counts as 0.
  double clipped_losses(const Batch& batch, const Vector& w, double clip);

  /// Bound on the distance (L2) between the computed sum and the exact sum of clipped terms, for
  /// any data set of at most n examples.
  double rounding_error(std::int64_t n, double radius) const;

 private:
  struct Scratch;

  template <class BlockBody>
  void for_each_block(const Batch& batch, const BlockBody& body);
  Scratch& scratch(int worker);
  void prepare(int workers, double scale);
  void collect(Vector& sum) const;

  const Engine& engine_;
  std::vector<std::unique_ptr<Scratch>> scratch_;
  double scale_ = 1;
  int workers_ = 1;
};

}  // namespace sotto
