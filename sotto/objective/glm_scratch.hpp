#pragma once

// Private to glm.cpp and glm_units.cpp.

#include <cstdint>
#include <vector>

#include "sotto/objective/glm.hpp"

namespace sotto {

/// The block last evaluated. Arrays by row have one entry for each row of the block's units, in
/// order; a unit's rows are first[k] … first[k + 1] of them (`first` is empty if units are rows).
struct GlmEngine::Scratch : Workspace {
  std::int64_t units = 0;
  std::int64_t row_count = 0;
  std::vector<std::int64_t> first;
  std::vector<std::int64_t> rows;
  const float* labels = nullptr;  // by row: into the table, or into gathered_labels
  const double* row_norms = nullptr;
  std::vector<float> gathered_labels;
  std::vector<double> gathered_norms;
  std::vector<double> predictions;
  std::vector<double> coefficients;  // by row: ℓ'
  std::vector<double> curvatures;    // by row: ℓ''
  std::vector<double> differences;   // by row, for pairs: ℓ'(w) - ℓ'(before)
  std::vector<double> coefficient_norms;
  std::vector<std::int64_t> weighted_rows;
  std::vector<double> weighted_coefficients;
  std::vector<double> row_weights;
  std::vector<double> more_row_weights;
  std::vector<double> predictions_before;
  std::vector<double> combined;
  std::vector<double> w;  // padded with zeros, as are the next three
  std::vector<double> before;
  std::vector<double> padded_sum;
  std::vector<double> vector;  // zero between uses
  std::vector<double> matrix;
  std::vector<double> outer;
  std::vector<double> products;
  std::vector<double> direction;  // padded with zeros

  glm_kernels::RowList list() const { return {rows.data(), row_count}; }
};

inline std::size_t to_size(std::int64_t n) { return static_cast<std::size_t>(n); }

}  // namespace sotto
