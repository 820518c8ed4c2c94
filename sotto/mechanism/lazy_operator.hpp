#pragma once

#include <cstdint>
#include <functional>

#include "sotto/core/vector.hpp"
#include "sotto/privacy/receipt.hpp"
#include "sotto/random/stream.hpp"
#include "sotto/release/noisy_operator.hpp"
#include "sotto/release/sensitive.hpp"

namespace sotto {

/// product = H v of a symmetric H computed from rows, for |v| = 1.
using SymmetricProduct = std::function<void(const Vector& v, Vector& product)>;

/// SymmetricGaussianMechanism for matrices too large to form: the noise E is drawn only as far as
/// products with it are asked for, with exactly the law of a noise drawn in advance:
/// lazy_operator.proof.md.
///
/// Keeps an orthonormal basis q_1, q_2, … of what was asked for and the noisy products (H + E) q_j.
/// A new direction q reads H q once and releases its components that no symmetry determines; what
/// lies in the span is answered from memory. Both cost O(dimension x products).
///
/// The event is gaussian(noise_multiplier) under the claim's relation and sampling, with
/// max_products x (dimension + 1) samples, paid when the operator is made.
class LazySymmetricOperator final : public NoisyOperator {
 public:
  /// The claim's sensitivity is in the Frobenius norm. Answers are divided by `divisor`. `noise`
  /// and whatever the product refers to must outlive the operator.
  LazySymmetricOperator(Sensitive<SymmetricProduct> value,
                        Receipt receipt,
                        double noise_multiplier,
                        std::int64_t dimension,
                        std::int64_t max_products,
                        const ProductBounds& bounds,
                        double divisor,
                        Stream& noise);

  std::int64_t dimension() const override { return basis_.rows(); }
  double sigma() const override;
  std::int64_t products_left() const override { return basis_.cols() - known_; }
  Expected<Released<Vector>> apply(const Vector& v) override;

 private:
  /// r -= its part in the span of the basis, twice; `coefficients` collects what was taken.
  void remove_known(Vector& r, Vector& coefficients) const;
  /// Draws and stores the noisy product with the new basis vector q.
  void reveal(const Vector& q);

  SymmetricProduct product_;  // secret
  Event event_;
  double unit_;
  double divisor_;
  Stream& noise_;
  Matrix basis_;     // q_j, by column
  Matrix products_;  // (H + E) q_j
  Eigen::Index known_ = 0;
};

}  // namespace sotto
