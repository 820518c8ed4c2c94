#pragma once

#include <cstdint>

#include "sotto/geometry/regularizer.hpp"
#include "sotto/loss/loss_info.hpp"

namespace sotto {

/// What algebra alone says about the curvature of F(w) = mean loss + regularizer on rows of norm at
/// most R (algorithms.md 2.7, 2.8). Public; infinite where the loss has no bound.

/// A lower bound on the smallest eigenvalue of the Hessian of F, at every w and for every data set:
/// R² min(0, inf φ'') + inf r''. Where it is at least -ε_H, every point meets the second-order
/// condition and no Hessian need be released.
double curvature_floor(const LossInfo& loss,
                       double R,
                       const Regularizer& regularizer,
                       std::int64_t dimension);

/// Lipschitz constant of the gradient of F: the larger absolute value of bounds on the Hessian's
/// eigenvalues. Logistic loss, R = 1, nonconvex:λ: 1/4 + 2λ.
double gradient_lipschitz(const LossInfo& loss,
                          double R,
                          const Regularizer& regularizer,
                          std::int64_t dimension);

/// Lipschitz constant of the Hessian of F in the spectral norm: R³ sup|φ'''| + sup|r'''|.
double hessian_lipschitz(const LossInfo& loss, double R, const Regularizer& regularizer);

}  // namespace sotto
