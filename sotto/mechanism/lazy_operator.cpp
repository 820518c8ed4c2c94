#include "sotto/mechanism/lazy_operator.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "sotto/core/check.hpp"
#include "sotto/mechanism/grid.hpp"
#include "sotto/mechanism/receipt_check.hpp"
#include "sotto/random/gaussian.hpp"

namespace sotto {
namespace {

// Largest |<q_i, q_j> - (i = j)| that the proof allows for; checked.
constexpr double kDefect = 1e-12;
// A vector with a smaller share outside the span counts as inside.
constexpr double kInside = 1e-10;

/// In extended precision: the error must be small against one unit's part of a sum over all.
double dot(const double* a, const double* b, Eigen::Index count) {
  long double sum = 0;
  for (Eigen::Index i = 0; i < count; ++i)
    sum += static_cast<long double>(a[i]) * static_cast<long double>(b[i]);
  return static_cast<double>(sum);
}

/// The bound that the noise is for: lazy_operator.proof.md.
double whole_sensitivity(double sensitivity,
                         double error,
                         double length,
                         std::int64_t dimension,
                         std::int64_t products) {
  const auto m = static_cast<double>(products);
  const auto d = static_cast<double>(dimension);
  const double projection = ((m + 8) * 0x1p-52 + (d + m) * 0x1p-60) * length;
  return sensitivity * (1 + 8 * m * m * kDefect + 2 * d * 0x1p-52) +
         2 * std::sqrt(3 * m) * (error + projection);
}

}  // namespace

LazySymmetricOperator::LazySymmetricOperator(Sensitive<SymmetricProduct> value,
                                             Receipt receipt,
                                             double noise_multiplier,
                                             std::int64_t dimension,
                                             std::int64_t max_products,
                                             const ProductBounds& bounds,
                                             double divisor,
                                             Stream& noise)
    : event_(value.claim().sampling().applied_to(
          Event::gaussian(noise_multiplier, value.claim().relation()))),
      divisor_(divisor),
      noise_(noise),
      basis_(dimension, std::min(dimension, max_products)),
      products_(dimension, basis_.cols()) {
  SOTTO_CHECK(dimension > 0 && max_products > 0 && divisor > 0 && bounds.error() >= 0);
  SOTTO_CHECK(max_products <= std::numeric_limits<std::int64_t>::max() / (dimension + 1));
  const std::int64_t coordinates = max_products * (dimension + 1);
  internal::check_receipt(receipt, event_, coordinates);
  const double sensitivity = whole_sensitivity(
      value.claim().sensitivity(), bounds.error(), bounds.length(), dimension, basis_.cols());
  unit_ = internal::gaussian_unit(sensitivity, noise_multiplier, coordinates);
  product_ = std::move(value).open(ReleaseKey{});
}

double LazySymmetricOperator::sigma() const { return internal::kGaussianSteps * unit_ / divisor_; }

void LazySymmetricOperator::remove_known(Vector& r, Vector& coefficients) const {
  coefficients.setZero(known_);
  for (int round = 0; round < 2; ++round)
    for (Eigen::Index j = 0; j < known_; ++j) {
      const double c = dot(basis_.col(j).data(), r.data(), r.size());
      r -= c * basis_.col(j);
      coefficients[j] += c;
    }
}

Expected<Released<Vector>> LazySymmetricOperator::apply(const Vector& v) {
  SOTTO_CHECK(v.size() == dimension());
  const double length = v.norm();
  SOTTO_CHECK(std::isfinite(length));
  Vector answer = Vector::Zero(dimension());
  if (length > 0) {
    Vector rest = v / length;
    Vector coefficients;
    remove_known(rest, coefficients);
    const double outside = rest.norm();
    if (outside > kInside) {
      if (products_left() == 0 && known_ < dimension())
        return fail(ErrorKind::kBudget,
                    fmt::format("all {} products of the noisy Hessian are used up; nothing more is "
                                "released of it. Ask for an operator with more max_products.",
                                basis_.cols()));
      Vector q = rest / outside;
      Vector slip;
      remove_known(q, slip);
      reveal(q / q.norm());
      answer = outside * products_.col(known_ - 1);
    }
    const Eigen::Index before = coefficients.size();
    answer += products_.leftCols(before) * coefficients;
    answer *= length / divisor_;
  }
  return Released<Vector>(ReleaseKey{}, std::move(answer), event_);
}

void LazySymmetricOperator::reveal(const Vector& q) {
  const Eigen::Index d = dimension();
  for (Eigen::Index j = 0; j < known_; ++j)
    SOTTO_CHECK(std::abs(dot(basis_.col(j).data(), q.data(), d)) <= kDefect);
  Vector raw;
  product_(q, raw);
  SOTTO_CHECK(raw.size() == d);

  // What earlier answers don't determine: the component along q, and all that is orthogonal to q
  // and to the basis. Sensitive until the noise is in.
  double along = dot(q.data(), raw.data(), d);
  Vector taken(known_);
  for (Eigen::Index j = 0; j < known_; ++j) taken[j] = dot(basis_.col(j).data(), raw.data(), d);
  for (Eigen::Index i = 0; i < d; ++i) {
    long double entry = static_cast<long double>(raw[i]) -
                        static_cast<long double>(along) * static_cast<long double>(q[i]);
    for (Eigen::Index j = 0; j < known_; ++j)
      entry -= static_cast<long double>(taken[j]) * static_cast<long double>(basis_(i, j));
    raw[i] = static_cast<double>(entry);
  }
  add_rounded_gaussian(noise_, std::span(&along, 1), unit_);
  add_rounded_gaussian(noise_,
                       std::span(raw.data(), static_cast<std::size_t>(d)),
                       unit_ * std::sqrt(0.5) * (1 + 0x1p-50));

  // From here on everything is released: project the noise, and fill in by symmetry.
  Vector slip;
  remove_known(raw, slip);
  raw -= q.dot(raw) * q;
  Vector by_symmetry(known_);
  for (Eigen::Index j = 0; j < known_; ++j) by_symmetry[j] = products_.col(j).dot(q);
  products_.col(known_) = raw + along * q + basis_.leftCols(known_) * by_symmetry;
  basis_.col(known_) = q;
  ++known_;
}

}  // namespace sotto
