// Compiled with -march=native (benchmarks/CMakeLists.txt). Eigen gets another name here, so that
// the linker can't mix its code with what the library was built for.
#define Eigen EigenForThisMachine
#include <Eigen/Core>
#undef Eigen

#include "benchmarks/peers/xtx.hpp"

namespace sotto::bench {
namespace {

namespace E = EigenForThisMachine;

template <class Real>
void product(const Real* x, std::int64_t rows, std::int64_t dim, Real* out) {
  using RowMajor = E::Matrix<Real, E::Dynamic, E::Dynamic, E::RowMajor>;
  const E::Map<const RowMajor> X(x, rows, dim);
  E::Map<RowMajor>(out, dim, dim).noalias() = X.transpose() * X;
}

}  // namespace

void plain_xtx_float(const float* x, std::int64_t rows, std::int64_t dim, float* out) {
  product(x, rows, dim, out);
}

void plain_xtx_double(const double* x, std::int64_t rows, std::int64_t dim, double* out) {
  product(x, rows, dim, out);
}

}  // namespace sotto::bench
