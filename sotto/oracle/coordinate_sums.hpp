#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sotto/core/vector.hpp"
#include "sotto/geometry/vertex_path.hpp"
#include "sotto/objective/engine.hpp"
#include "sotto/oracle/api/vertex_query.hpp"

namespace sotto {

/// Sums over all units of gradients that are scaled to entries of at most `clip` and rounded to
/// integers, kSteps of them for `clip`: exact, so that one unit moves every sum by at most kSteps
/// (twice that if replaced) and no rounding error enters the sensitivity
/// (coordinate_sums.proof.md).
///
/// For linear models on single rows the predictions are kept, and follow a VertexPath from query to
/// query: a query costs one pass over the rows' entries and O(dimension), no dense iterate exists.
/// Other engines are asked for one unit's gradient at a time, O(units · dimension).
/// Memory: 8 bytes per unit, and for each of at most two threads (all, if the dimension is small)
/// 8 bytes per coordinate.
class CoordinateSums {
 public:
  static constexpr std::int64_t kSteps = kCoordinateSteps;

  /// The engine must outlive this object; at most 2^31 units.
  explicit CoordinateSums(const Engine& engine);
  ~CoordinateSums();

  /// clip must be finite and > 0.
  void compute(const VertexPath& at, double clip);
  void compute(const Vector& at, double clip);

  /// Adds entries of a mean of `n` gradients, public ones, to the sums; |sum| stays below 2^62.6.
  void add_public(std::span<const std::pair<std::int64_t, double>> entries, double n, double clip);

  /// The sums are those of these parts, coordinate by coordinate. Valid until the next compute.
  std::vector<std::span<const std::int64_t>> parts() const;
  /// The sums in units of gradients.
  Vector dense(double clip) const;

 private:
  struct Scratch;

  void prepare(std::int64_t tasks);
  void with_predictions(double clip, std::span<const VertexPath::Move> pending, const Vector* w);
  void one_by_one(const Vector& w, double clip);
  void add_block(const Block& block, double clip, Scratch& mine);

  const Engine& engine_;
  std::vector<double> predictions_;
  std::vector<VertexPath::Move> applied_;  ///< the path that the predictions belong to
  bool on_path_ = false;
  std::vector<std::unique_ptr<Scratch>> scratch_;
};

}  // namespace sotto
