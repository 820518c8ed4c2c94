#include "sotto/audit/confidence.hpp"

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include "sotto/core/check.hpp"

namespace sotto {

double probability_lower(std::int64_t hits, std::int64_t trials, double alpha) {
  SOTTO_CHECK(0 <= hits && hits <= trials && trials > 0 && alpha > 0 && alpha < 1);
  if (hits == 0) return 0;
  const boost::math::beta_distribution<> law(static_cast<double>(hits),
                                             static_cast<double>(trials - hits + 1));
  return boost::math::quantile(law, alpha);
}

double probability_upper(std::int64_t hits, std::int64_t trials, double alpha) {
  SOTTO_CHECK(0 <= hits && hits <= trials && trials > 0 && alpha > 0 && alpha < 1);
  if (hits == trials) return 1;
  const boost::math::beta_distribution<> law(static_cast<double>(hits + 1),
                                             static_cast<double>(trials - hits));
  return boost::math::quantile(boost::math::complement(law, alpha));
}

ErrorBounds bound_errors(const ErrorCounts& counts, double alpha) {
  return {probability_upper(counts.false_alarms, counts.trials0, alpha / 2),
          probability_upper(counts.misses, counts.trials1, alpha / 2)};
}

double bound_total_error(const ErrorCounts& counts, double alpha) {
  SOTTO_CHECK(counts.trials0 == counts.trials1);
  const std::int64_t all = counts.trials0 + counts.trials1;
  const std::int64_t errors = counts.false_alarms + counts.misses;
  // Hoeffding's theorem is about counts that are at most the mean minus 1.
  const double least = static_cast<double>(errors + 1) / static_cast<double>(all);
  return 2 * std::max(least, probability_upper(errors, all, alpha));
}

double plain_epsilon_bound(const ErrorBounds& errors, double delta) {
  const auto one_way = [&](double a, double b) {
    const double excess = 1 - delta - b;
    return excess > 0 && a > 0 ? std::log(excess / a) : 0.0;
  };
  return std::max({0.0, one_way(errors.type1, errors.type2), one_way(errors.type2, errors.type1)});
}

double gaussian_mu_bound(const ErrorBounds& errors) {
  if (errors.type1 >= 1 || errors.type2 >= 1 || errors.type1 <= 0 || errors.type2 <= 0) return 0;
  return std::max(0.0, normal_quantile(1 - errors.type1) - normal_quantile(errors.type2));
}

double gaussian_mu_bound(double total_error) {
  return total_error < 1 && total_error > 0 ? -2 * normal_quantile(total_error / 2) : 0.0;
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

double normal_quantile(double p) { return boost::math::quantile(boost::math::normal(), p); }

}  // namespace sotto
