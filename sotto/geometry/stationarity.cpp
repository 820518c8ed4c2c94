#include "sotto/geometry/stationarity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/non_central_chi_squared.hpp>
#include <cmath>

#include "sotto/core/check.hpp"

namespace sotto {
namespace {

/// P(X <= x) for a noncentral chi-squared X; NaN where the series fails.
double chi_squared_below(double x, double dimension, double noncentrality) {
  using namespace boost::math::policies;
  using Quiet = policy<domain_error<errno_on_error>,
                       evaluation_error<errno_on_error>,
                       overflow_error<errno_on_error>,
                       pole_error<errno_on_error>>;
  const boost::math::non_central_chi_squared_distribution<double, Quiet> law(dimension,
                                                                             noncentrality);
  return boost::math::cdf(law, x);
}

/// The noncentrality B at which X <= x has probability at most `miss` by concentration:
/// P(X <= d + B - 2 sqrt((d + 2B) ln(1/miss))) <= miss [Bir01, Lemma 8.1].
double concentration_bound(double x, double d, double miss) {
  const double L = std::log(1 / miss);
  // B - 2 sqrt(L (d + 2B)) = x - d, the larger root in sqrt(d + 2B).
  const double root = 2 * std::sqrt(L) + std::sqrt(4 * L + 2 * x - d);
  return std::max(0.0, (root * root - d) / 2);
}

}  // namespace

double norm_upper_bound(double observed, double sigma, std::int64_t dimension, double miss) {
  SOTTO_CHECK(observed >= 0 && sigma >= 0 && dimension > 0 && miss > 0 && miss < 1);
  if (sigma == 0) return observed;
  const auto d = static_cast<double>(dimension);
  const double x = std::max(observed / sigma * (observed / sigma), d);
  double high = concentration_bound(x, d, miss);
  // The exact law is tighter; its series is fast while d and x are moderate.
  if (x > 1e5) return sigma * std::sqrt(high);
  double low = 0;
  for (int k = 0; k < 60 && high - low > 1e-10 * (1 + high); ++k) {
    const double middle = (low + high) / 2;
    const double below = chi_squared_below(x, d, middle);
    if (!std::isfinite(below)) return sigma * std::sqrt(high);
    (below <= miss ? high : low) = middle;
  }
  return sigma * std::sqrt(high);
}

double norm_estimate(double observed, double sigma, std::int64_t dimension) {
  const double squares = observed * observed - sigma * sigma * static_cast<double>(dimension);
  return std::sqrt(std::max(0.0, squares));
}

double symmetric_noise_bound(double sigma, std::int64_t dimension, double miss) {
  return sigma *
         (std::sqrt(2 * static_cast<double>(dimension)) + std::sqrt(2 * std::log(1 / miss)));
}

void decide(Certificate& certificate) {
  const bool slope = certificate.gradient_upper <= certificate.gradient_tolerance;
  const bool curvature = certificate.curvature_lower >= -certificate.curvature_tolerance;
  if (slope && curvature) {
    certificate.verdict = Certificate::Verdict::kCertified;
  } else if (certificate.gradient_floor > certificate.gradient_tolerance ||
             certificate.curvature_floor > certificate.curvature_tolerance) {
    certificate.verdict = Certificate::Verdict::kBelowNoise;
  } else {
    certificate.verdict = Certificate::Verdict::kNotCertified;
  }
}

std::string to_string(const Certificate& c) {
  std::string text = fmt::format("({:.4g}, {:.4g})-second-order point: {}",
                                 c.gradient_tolerance,
                                 c.curvature_tolerance,
                                 to_string(c.verdict));
  if (!c.reason.empty()) return text + " (" + c.reason + ")";
  return text + fmt::format(
                    " at confidence {:.4g}: |gradient| <= {:.4g} (noise floor {:.4g}), "
                    "smallest eigenvalue >= {:.4g} ({})",
                    c.confidence,
                    c.gradient_upper,
                    c.gradient_floor,
                    c.curvature_lower,
                    c.curvature_by_algebra ? std::string("by algebra, at every point")
                                           : fmt::format("noise floor {:.4g}", c.curvature_floor));
}

}  // namespace sotto
