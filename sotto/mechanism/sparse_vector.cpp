#include "sotto/mechanism/sparse_vector.hpp"

#include <cmath>
#include <utility>

#include "sotto/core/check.hpp"
#include "sotto/mechanism/grid.hpp"
#include "sotto/mechanism/receipt_check.hpp"
#include "sotto/random/exponential.hpp"

namespace sotto {
namespace {

// Scales of the noise in grid steps.
constexpr int kThresholdBits = kExponentBits - 1;
constexpr int kQueryBits = kExponentBits;

}  // namespace

SparseVectorSession::SparseVectorSession(
    Receipt receipt, double epsilon, const SensitivityClaim& claim, double threshold, Stream& noise)
    : event_(Event::sparse_vector(epsilon, claim.relation())),
      sensitivity_(claim.sensitivity()),
      relation_(claim.relation()),
      noise_(noise),
      questions_left_(receipt.samples() - 1) {
  SOTTO_CHECK(epsilon >= 0x1p-20 && std::isfinite(epsilon));
  internal::check_receipt(receipt, event_, 1);
  // A query moves by at most epsilon / 2 times the scale of the threshold's noise.
  unit_ = internal::grid_unit(
      sensitivity_, std::ldexp(epsilon / 2, kThresholdBits), 2 * internal::kGridRounding);
  noisy_threshold_ =
      internal::to_grid(threshold, unit_) + sample_floored_laplace(noise_, kThresholdBits);
}

Released<bool> SparseVectorSession::is_above(Sensitive<double> query) {
  const SensitivityClaim claim = query.claim();
  SOTTO_CHECK(open_ && questions_left_ > 0);
  SOTTO_CHECK(claim.sampling() == Sampling::full() && claim.relation() == relation_ &&
              claim.sensitivity() <= sensitivity_);
  --questions_left_;
  const ReleaseKey key;
  const std::int64_t noisy = internal::to_grid(std::move(query).open(key), unit_) +
                             sample_floored_laplace(noise_, kQueryBits);
  const bool above = noisy >= noisy_threshold_;
  Released<bool> answer(key, above, event_);
  open_ = !answer.value();
  return answer;
}

}  // namespace sotto
