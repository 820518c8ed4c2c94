#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sotto/core/archive.hpp"
#include "sotto/core/vector.hpp"

namespace sotto {

/// A signed coordinate: the vertex value · e_coordinate of an l1 ball or a simplex.
struct Vertex {
  std::int64_t coordinate = 0;
  double value = 0;
  bool operator==(const Vertex&) const = default;
};

/// Frank–Wolfe's iterate: a start, then moves w <- (1 - step) w + step · vertex. It is kept as a
/// scale and the few coordinates that were ever touched, so that a move costs O(1) in any
/// dimension, together with the moves themselves, from which whoever keeps predictions ⟨x, w⟩ can
/// follow.
class VertexPath {
 public:
  struct Move {
    double step = 0;
    Vertex vertex;
    bool operator==(const Move&) const = default;
  };

  /// Starts at 0.
  explicit VertexPath(std::int64_t dimension) : dimension_(dimension) {}

  std::int64_t dimension() const { return dimension_; }
  const std::vector<Move>& moves() const { return moves_; }

  /// 0 < step <= 1.
  void move(double step, const Vertex& vertex);

  /// The coordinates that may differ from 0, in order of their first move, and their values.
  const std::vector<std::int64_t>& support() const { return support_; }
  double value(std::size_t slot) const { return scale_ * values_[slot]; }

  double l1_norm() const;
  Vector dense() const;

  /// The moves, from which all else follows to the last bit.
  void archive(Archive& state);

 private:
  std::int64_t dimension_;
  double scale_ = 1;
  std::vector<std::int64_t> support_;
  std::vector<double> values_;  ///< before the scale
  std::unordered_map<std::int64_t, std::size_t> slots_;
  std::vector<Move> moves_;
};

}  // namespace sotto
