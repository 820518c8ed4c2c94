#include "sotto/privacy/accountant/pld_curve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sotto::pld {

DeltaCurve::DeltaCurve(const Measure& measure, double tilt, double infinite, Bound bound)
    : bound_(bound),
      origin_(measure.origin),
      step_(measure.step),
      tilt_(tilt),
      log_scale_(measure.log_scale),
      infinite_(infinite),
      log_peak_(tilt * -std::log1p(1 / tilt) - std::log1p(tilt)),
      slack_(measure.error * std::exp(log_peak_)),
      total_(measure.total() + measure.error),
      index_(measure.index),
      stick_(measure.mass.size()),
      weight_(measure.mass.size()) {
  constexpr double kRoundOff = std::numeric_limits<double>::epsilon();
  relative_ = 8 * kRoundOff * (static_cast<double>(measure.mass.size()) + 16);
  blur_ = 64 * kRoundOff *
          (std::abs(origin_) + static_cast<double>(index_.back() - index_.front()) * step_);
  std::int64_t gap = 0;
  double tilted = 0, weighted = 0, decay = 0;
  for (std::size_t k = index_.size(); k-- > 0;) {
    if (k + 1 == index_.size()) {
      weight_[k] = measure.mass[k];
      continue;
    }
    if (index_[k + 1] - index_[k] != gap) {
      gap = index_[k + 1] - index_[k];
      const double distance = static_cast<double>(gap) * step_;
      tilted = std::exp(-tilt * distance);
      weighted = std::exp(-(tilt + 1) * distance);
      decay = -std::expm1(-distance);
    }
    stick_[k] = tilted * (stick_[k + 1] + decay * weight_[k + 1]);
    weight_[k] = measure.mass[k] + weighted * weight_[k + 1];
  }
}

DeltaCurve DeltaCurve::trivial(Bound bound) {
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  return {Measure{0, 1, {0, 1}, {0, 0}, 0, nothing}, 1, 0, bound};
}

double DeltaCurve::delta(double epsilon) const {
  // A measure that round-off has spoiled bounds nothing: the trivial answer, on the safe side.
  if (!std::isfinite(total_ + slack_ + log_scale_)) return bound_ == Bound::kUpper ? 1.0 : 0.0;
  epsilon += (bound_ == Bound::kUpper ? -1 : 1) * (blur_ + 1e-14 * std::abs(epsilon));
  const double position = (epsilon - origin_) / step_;
  const auto next =
      std::upper_bound(index_.begin(), index_.end(), position, [](double p, std::int64_t i) {
        return p < static_cast<double>(i);
      });
  double value = 0;
  if (next != index_.end()) {
    const auto k = static_cast<std::size_t>(next - index_.begin());
    const double distance = std::max(0.0, origin_ + static_cast<double>(*next) * step_ - epsilon);
    value = std::exp(-tilt_ * distance) * (stick_[k] - std::expm1(-distance) * weight_[k]);
  }
  const double exponent = log_scale_ - tilt_ * epsilon;
  const double round_off = relative_ + 1e-15 * (std::abs(log_scale_) + tilt_ * std::abs(epsilon));
  if (bound_ == Bound::kLower) {
    const double below = value * (1 - round_off) - slack_;
    return below > 0 ? std::min(1.0, std::exp(exponent + std::log(below)) * (1 - round_off)) : 0.0;
  }
  // Never worse than Chernoff's bound on the same measure.
  const double above = std::min(value + slack_, total_ * std::exp(log_peak_));
  const double finite =
      !(above <= 0) ? std::exp(std::min(1.0, exponent + std::log(above))) * (1 + 2 * round_off)
                    : 0.0;
  return std::isnan(finite) ? 1.0 : std::min(1.0, finite + infinite_);
}

double DeltaCurve::epsilon_above(double target) const {
  if (delta(0) <= target) return 0;
  if (target <= infinite_) return std::numeric_limits<double>::infinity();
  double high = std::max(
      1e-12, (log_scale_ + log_peak_ + std::log(total_) - std::log(target - infinite_)) / tilt_);
  for (int i = 0; delta(high) > target; ++i) {
    if (i == 200) return std::numeric_limits<double>::infinity();
    high = high * (1 + 1e-9) + 1e-12;
  }
  double low = 0;
  for (int i = 0; i < 200 && high - low > 1e-13 * high; ++i) {
    const double middle = (low + high) / 2;
    (delta(middle) <= target ? high : low) = middle;
  }
  return high;
}

double DeltaCurve::epsilon_below(double target, double start) const {
  double high = start;
  double low = start;
  for (double back = 1e-8 * start; delta(low) <= target; back *= 2) {
    if (low <= 0) return 0;
    high = low;
    low = std::max(0.0, start - back);
  }
  for (int i = 0; i < 200 && high - low > 1e-13 * high; ++i) {
    const double middle = (low + high) / 2;
    (delta(middle) > target ? low : high) = middle;
  }
  return low;
}

}  // namespace sotto::pld
