#include "sotto/mechanism/symmetric_noise.hpp"

#include <cmath>

#include "sotto/core/check.hpp"
#include "sotto/mechanism/grid.hpp"
#include "sotto/random/gaussian.hpp"

namespace sotto::internal {

void add_symmetric_noise(Matrix& matrix, double unit, Stream& noise) {
  SOTTO_CHECK(matrix.rows() == matrix.cols());
  const auto span = [](Vector& v) {
    return std::span(v.data(), static_cast<std::size_t>(v.size()));
  };
  Vector diagonal = matrix.diagonal();
  add_rounded_gaussian(noise, span(diagonal), unit);
  const double lower_unit = unit * std::sqrt(0.5) * (1 + 0x1p-50);
  for (Eigen::Index j = 0; j < matrix.cols(); ++j) {
    const Eigen::Index below = matrix.rows() - j - 1;
    Vector column = matrix.col(j).tail(below);
    add_rounded_gaussian(noise, span(column), lower_unit);
    matrix.col(j).tail(below) = column;
    matrix.row(j).tail(below) = column.transpose();
  }
  matrix.diagonal() = diagonal;
}

}  // namespace sotto::internal
