#pragma once

// What observed error rates prove about epsilon. Every bound here is exact for every sample size:
// it is wrong with probability at most `alpha`, whatever the mechanism.

#include <cstdint>

namespace sotto {

/// One-sided Clopper-Pearson bounds on a probability after `hits` of `trials`: each is wrong with
/// probability at most alpha. 0 <= hits <= trials, trials > 0, 0 < alpha < 1.
double probability_lower(std::int64_t hits, std::int64_t trials, double alpha);
double probability_upper(std::int64_t hits, std::int64_t trials, double alpha);

/// How often a fixed test between two worlds was wrong.
struct ErrorCounts {
  std::int64_t false_alarms = 0;  ///< said "world 1" in world 0
  std::int64_t trials0 = 0;
  std::int64_t misses = 0;  ///< said "world 0" in world 1
  std::int64_t trials1 = 0;
};

/// What the counts prove about the test's error rates (a, b), at level alpha: a <= type1 and
/// b <= type2 at once, or a + b <= total.
struct ErrorBounds {
  double type1 = 1;
  double type2 = 1;
};
ErrorBounds bound_errors(const ErrorCounts& counts, double alpha);

/// Upper bound on a + b. Needs trials0 = trials1: then all errors together are a sum of independent
/// indicators of mean (a + b) / 2, whose lower tail is at most the binomial one [Hoe56].
double bound_total_error(const ErrorCounts& counts, double alpha);

/// The largest epsilon that the counts refute at `delta`: (epsilon, delta)-DP needs
/// a + e^epsilon b >= 1 - delta and the same with a and b exchanged. 0 if they refute none.
double plain_epsilon_bound(const ErrorBounds& errors, double delta);

/// The largest mu that the bounds refute: mu-GDP needs b >= Phi(Phi^-1(1 - a) - mu) [DRS22].
double gaussian_mu_bound(const ErrorBounds& errors);
/// The same from a bound on a + b >= 2 Phi(-mu / 2).
double gaussian_mu_bound(double total_error);

/// The standard normal distribution function and its inverse (0 < p < 1).
double normal_cdf(double x);
double normal_quantile(double p);

}  // namespace sotto
