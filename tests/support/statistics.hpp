#pragma once

// Tests of samples against laws. Every decision rule here raises a false alarm with probability at
// most `alpha`; tests use kFalseAlarm and fixed seeds. Rules marked exact hold for every sample
// size, the others rest on a limit theorem and ask for the counts they need.

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

namespace sotto::testing {

inline constexpr double kFalseAlarm = 1e-6;

inline double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

/// |X| of a standard normal exceeds this with probability alpha.
inline double two_sided_z(double alpha) {
  return boost::math::quantile(boost::math::complement(boost::math::normal(), alpha / 2));
}

/// Largest distance of the empirical distribution function of `sample` from `cdf`.
template <class Cdf>
double kolmogorov_distance(std::vector<double> sample, const Cdf& cdf) {
  std::sort(sample.begin(), sample.end());
  const double n = static_cast<double>(sample.size());
  double distance = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double p = cdf(sample[i]);
    distance =
        std::max({distance, p - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - p});
  }
  return distance;
}

/// Critical value of kolmogorov_distance; exact (Dvoretzky-Kiefer-Wolfowitz with Massart's
/// constant).
inline double kolmogorov_critical(std::size_t n, double alpha = kFalseAlarm) {
  return std::sqrt(std::log(2 / alpha) / (2 * static_cast<double>(n)));
}

/// Pearson's statistic of observed against expected counts (expected at least 100 per cell).
inline double chi_square(const std::vector<std::int64_t>& observed,
                         const std::vector<double>& expected) {
  double statistic = 0;
  for (std::size_t i = 0; i < observed.size(); ++i) {
    const double excess = static_cast<double>(observed[i]) - expected[i];
    statistic += excess * excess / expected[i];
  }
  return statistic;
}

inline double chi_square_critical(std::size_t degrees_of_freedom, double alpha = kFalseAlarm) {
  const boost::math::chi_squared law(static_cast<double>(degrees_of_freedom));
  return boost::math::quantile(boost::math::complement(law, alpha));
}

/// One-sided Clopper-Pearson bounds on a probability after `hits` of `trials`: each is wrong with
/// probability at most alpha; exact.
inline double probability_lower(std::int64_t hits, std::int64_t trials, double alpha) {
  if (hits == 0) return 0;
  const boost::math::beta_distribution<> law(static_cast<double>(hits),
                                             static_cast<double>(trials - hits + 1));
  return boost::math::quantile(law, alpha);
}
inline double probability_upper(std::int64_t hits, std::int64_t trials, double alpha) {
  if (hits == trials) return 1;
  const boost::math::beta_distribution<> law(static_cast<double>(hits + 1),
                                             static_cast<double>(trials - hits));
  return boost::math::quantile(boost::math::complement(law, alpha));
}

/// Whether `hits` of `trials` is compatible with probability p; exact, two-sided.
inline bool plausible(std::int64_t hits,
                      std::int64_t trials,
                      double p,
                      double alpha = kFalseAlarm) {
  return probability_lower(hits, trials, alpha / 2) <= p &&
         p <= probability_upper(hits, trials, alpha / 2);
}

}  // namespace sotto::testing
