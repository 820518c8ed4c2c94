#pragma once

#include <cstdint>

#include "sotto/core/error.hpp"
#include "sotto/core/vector.hpp"
#include "sotto/release/released.hpp"

namespace sotto {

/// H + E with one fixed symmetric noise E, of which only products with chosen vectors are ever
/// revealed. All answers together have exactly the law that they would have if E were drawn in
/// advance, so whatever is computed from them is post-processing of one release
/// (mechanism/lazy_operator.proof.md). It is symmetric up to round-off.
///
/// A product with a vector outside the span of the earlier ones reads the rows once more; inside
/// the span it is free. Memory: 2 dimension numbers for each independent vector.
class NoisyOperator {
 public:
  virtual ~NoisyOperator() = default;

  virtual std::int64_t dimension() const = 0;
  /// Standard deviation of E on the diagonal; sigma / sqrt(2) off it. Public.
  virtual double sigma() const = 0;
  /// Independent vectors that may still be asked for.
  virtual std::int64_t products_left() const = 0;
  /// (H + E) v. Fails (kBudget) when a new direction is asked for and no product is left.
  virtual Expected<Released<Vector>> apply(const Vector& v) = 0;
};

}  // namespace sotto
