#pragma once

#include <cstdint>

#include "sotto/core/vector.hpp"
#include "sotto/data/table.hpp"

namespace sotto {

/// A made-up problem with a real saddle point, for the loss phase-retrieval: recover w up to its
/// sign from measurements <x, w>² [CLS15].
///
/// Rows are uniform on the unit sphere, the truth has a uniformly random direction and the given
/// length, and a label is <x, truth>² plus noise of the given standard deviation, clamped to [0,
/// label_bound]. At w = 0 the mean loss is stationary and, with length² = dim, its smallest Hessian
/// eigenvalue is near -3 / (dim + 2), along the truth; the minimizers are ± the truth, up to noise
/// and clamping.
struct PhaseRetrievalOptions {
  std::int64_t rows = 20'000;
  std::int64_t dim = 10;
  std::uint64_t seed = 1;
  std::uint64_t part = 0;  ///< independent draws for one truth: 0 for training, 1 for testing, …
  double length = 0;       ///< of the truth; 0: sqrt(dim), which makes the mean label 1
  double noise = 0.1;
  double label_bound = 6;  ///< declared; the threshold of the loss
};

struct PhaseRetrievalData {
  Table table;  ///< rows of norm at most 1
  Vector truth;
};

PhaseRetrievalData make_phase_retrieval(const PhaseRetrievalOptions& options);

}  // namespace sotto
