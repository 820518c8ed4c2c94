#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sotto/core/error.hpp"

namespace sotto {

/// What the noise of training alone makes of a linear model's weights: standard deviations, found
/// by running the recorded method with its recorded settings and noise on units that say nothing.
/// Everything that enters is in the record, so that this is post-processing and costs nothing. What
/// it says of the real weights is in noise_alone.md.
struct NoiseAlone {
  double weight = 0;     ///< of every weight but the intercept
  double intercept = 0;  ///< not regularized; without a regularizer the same
  /// The rows' curvature can only make it smaller, to first order. False: a yardstick.
  bool bound = false;
};

/// `record`: of a private run, as verify_record accepts it. The same record always gives the same
/// numbers. Fails (kUsage), with a sentence, where the noise does not pass through the method in
/// proportion, or where finding out would take long.
Expected<NoiseAlone> noise_alone(const nlohmann::json& record);

}  // namespace sotto
