#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "sotto/core/names.hpp"

namespace sotto {

// What noisy gradients and Hessians say about the true ones. Everything here is computed from
// released values and public noise levels.

/// Upper confidence bound on |g| from |g + noise| = `observed`, where each of the `dimension`
/// coordinates has independent noise of standard deviation sigma: below the true norm with
/// probability at most `miss`. |g + noise|^2 / sigma^2 has a noncentral chi-squared law, whose
/// noncentrality is bounded; an observation below the noise's own norm counts as that norm, so that
/// no luck with the noise is mistaken for a small gradient. sigma 0: `observed` itself.
double norm_upper_bound(double observed, double sigma, std::int64_t dimension, double miss);

/// |g| without the noise's share of |g + noise|; 0 where noise explains all of it.
double norm_estimate(double observed, double sigma, std::int64_t dimension);

/// A bound that the largest eigenvalue of a symmetric noise matrix (standard deviation sigma on the
/// diagonal, sigma / sqrt(2) off it) exceeds with probability at most `miss`:
/// sigma (sqrt(2 d) + sqrt(2 ln(1/miss))) [DS01, Thm II.11]. By symmetry of the law also for minus
/// the smallest.
double symmetric_noise_bound(double sigma, std::int64_t dimension, double miss);

/// What a private certificate says about a point w: |grad F(w)| is at most gradient_upper and the
/// smallest eigenvalue of the Hessian at least curvature_lower, both together with probability
/// `confidence` over the noise.
struct Certificate {
  enum class Verdict {
    kCertified,
    kNotCertified,
    kBelowNoise,  ///< no point could be certified with this noise
    kRefused,     ///< no valid statement, see `reason`
  };
  double confidence = 0;
  double gradient_tolerance = 0;
  double curvature_tolerance = 0;
  double gradient_norm = 0;  ///< of the released gradient
  /// Upper confidence bound; infinite, and curvature_lower minus infinite, where nothing was found.
  double gradient_upper = std::numeric_limits<double>::infinity();
  double gradient_floor = 0;  ///< the same bound at a point where the true gradient is zero
  double curvature_lower = -std::numeric_limits<double>::infinity();
  double curvature_floor = 0;  ///< the noise's part of it; 0 if algebra alone gives the bound
  bool curvature_by_algebra = false;  ///< holds everywhere, without looking at data
  Verdict verdict = Verdict::kNotCertified;
  std::string reason;
};
inline constexpr Named<Certificate::Verdict> kVerdicts[] = {
    {Certificate::Verdict::kCertified, "certified"},
    {Certificate::Verdict::kNotCertified, "not certified"},
    {Certificate::Verdict::kBelowNoise, "below the noise floor"},
    {Certificate::Verdict::kRefused, "refused"}};
constexpr std::string_view to_string(Certificate::Verdict verdict) {
  return name_of(verdict, kVerdicts);
}

/// Sets the verdict from the numbers.
void decide(Certificate& certificate);

/// `(0.06, 0.245)-second-order point: certified at confidence 0.95; |gradient| <= 0.031, …`
std::string to_string(const Certificate& certificate);

}  // namespace sotto
