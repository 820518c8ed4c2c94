#pragma once

#include <cstdint>
#include <vector>

#include "sotto/data/table.hpp"

namespace sotto {

/// Made-up rows of a linear model with a known truth. Nobody's data.
struct LinearData {
  Table table;
  std::vector<std::int64_t> relevant;  ///< columns whose weight is not 0, in order
  std::vector<double> weights;         ///< theirs
};

/// The synthetic problem of [WX19] with a label rule that is one: rows are standard normal, scaled
/// to norm 1; the truth θ* is ±1 by turns on a twentieth of the coordinates, spread evenly; and the
/// label is sign⟨θ*, x⟩, turned over with probability `flip`. (The paper draws the label from the
/// model that it is to define; trap T9.) `part` numbers independent draws of rows from one truth.
LinearData make_dense_linear(std::int64_t rows,
                             std::int64_t dim,
                             std::uint64_t seed,
                             std::uint64_t part = 0,
                             double flip = 0.05);

/// Dense rows of entries ±1, `relevant` of whose columns matter, with weights ±1 by turns; the
/// label is the sign of their sum, ties broken by the first one.
LinearData make_sign_rows(std::int64_t rows,
                          std::int64_t dim,
                          std::int64_t relevant,
                          std::uint64_t seed,
                          std::uint64_t part = 0);

/// Sparse rows of entries 1 in high dimension. `relevant` columns, spread evenly, are present with
/// `probability` each, with weights ±1 by turns; `others` more columns a row are drawn from the
/// rest and mean nothing. The label is +1 with probability σ(sharpness · sum of the present
/// weights).
struct SparseLinear {
  std::int64_t rows = 0;
  std::int64_t dim = 0;
  std::int64_t relevant = 10;
  double probability = 0.3;
  std::int64_t others = 40;
  double sharpness = 1;
};
LinearData make_sparse_linear(const SparseLinear& shape,
                              std::uint64_t seed,
                              std::uint64_t part = 0);

}  // namespace sotto
