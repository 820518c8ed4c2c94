#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sotto/report/reported_run.hpp"

namespace sotto {

/// A run's guarantee for readers who are no mathematicians.
struct PrivacyWords {
  std::string headline;  ///< one sentence
  /// What is protected, for whom, against what, how much, and what that means.
  std::vector<std::pair<std::string, std::string>> promise;
  std::vector<std::string> not_promised;
};

/// Of a run that claims privacy.
PrivacyWords privacy_words(const ReportedRun& run);

/// The largest chance of guessing rightly whether one unit was used, for somebody who starts at
/// 50 : 50: 1 - (1 - delta) / (1 + e^epsilon), by the definition of (epsilon, delta).
double best_guess(double epsilon, double delta);

/// Never below the value: an upper bound stays one (core/directed_text.hpp).
std::string rounded_up(double value, int digits = 4);
/// Never above it.
std::string rounded_down(double value, int digits = 4);
/// With four significant digits; `-` if it is not finite.
std::string rounded(double value);
/// As short as {:g}, and 1e-06 as 1e-6.
std::string short_text(double value);
/// 32561 as 32,561.
std::string with_commas(std::int64_t value);

}  // namespace sotto
