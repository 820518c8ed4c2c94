#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sotto/geometry/trust_region.hpp"

namespace sotto {

/// Independent normal numbers from a public seed, with a law that is the same on every platform;
/// its direction is uniform on the sphere. Nothing here needs to be secret.
Vector public_normals(std::int64_t dimension, std::uint64_t seed);

/// An orthonormal basis V, its image HV and the projected matrix V'HV, which grow together: what
/// Lanczos methods with full re-orthogonalization keep.
class KrylovSpace {
 public:
  KrylovSpace(const SymmetricOperator& H, Eigen::Index dimension, std::int64_t most)
      : H_(H), basis_(dimension, most), image_(dimension, most), projected_(most, most) {}

  std::int64_t size() const { return size_; }
  /// No room for another vector.
  bool full() const { return size_ == std::min<std::int64_t>(basis_.cols(), basis_.rows()); }
  /// Everything: nothing of H lies outside.
  bool whole() const { return size_ == basis_.rows(); }
  auto basis() const { return basis_.leftCols(size_); }
  auto image() const { return image_.leftCols(size_); }
  Matrix projected() const { return projected_.topLeftCorner(size_, size_); }

  /// Adds the part of v that is new; false if there is none to working precision.
  bool add(Vector v) {
    const double length = v.norm();
    if (full() || !(length > 0) || !std::isfinite(length)) return false;
    v /= length;
    for (int pass = 0; pass < 3; ++pass) {
      v -= basis() * (basis().transpose() * v);
      const double left = v.norm();
      if (left < 1e-11 && pass == 0) return false;
      v /= left;
      if (left > 0.7) break;
    }
    basis_.col(size_) = v;
    H_(v, product_);
    image_.col(size_) = product_;
    ++size_;
    projected_.col(size_ - 1).head(size_) = basis().transpose() * product_;
    projected_.row(size_ - 1).head(size_) = projected_.col(size_ - 1).head(size_).transpose();
    return true;
  }

 private:
  const SymmetricOperator& H_;
  Matrix basis_, image_, projected_;
  Vector product_;
  std::int64_t size_ = 0;
};

}  // namespace sotto
