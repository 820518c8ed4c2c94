// The losses at the end of a network, in float64.

#include <algorithm>
#include <cmath>

#include "sotto/objective/loss.hpp"
#include "sotto/objective/network/engine.hpp"
#include "sotto/objective/scalar_math.hpp"

namespace sotto {
namespace {

double softmax_loss(const float* outputs, std::int64_t count, std::int64_t label, float* slopes) {
  const double largest = *std::max_element(outputs, outputs + count);
  double sum = 0;
  for (std::int64_t c = 0; c < count; ++c) sum += std::exp(outputs[c] - largest);
  if (slopes)
    for (std::int64_t c = 0; c < count; ++c)
      slopes[c] = static_cast<float>(std::exp(outputs[c] - largest) / sum - (c == label ? 1 : 0));
  return std::log(sum) + largest - outputs[label];
}

}  // namespace

/// The loss of one example; if `slopes` is not null, its derivatives in the outputs.
double NetworkEngine::loss_of(const float* outputs, float label, float* slopes) const {
  if (spec_.loss == NetworkLoss::kSoftmax)
    return softmax_loss(outputs, outputs_, static_cast<std::int64_t>(label), slopes);
  const double z = outputs[0];
  const double y = label;
  const auto evaluate = [&](const auto& loss) {
    if (slopes) slopes[0] = static_cast<float>(loss_slope(loss, z, y));
    return loss_value(loss, z, y);
  };
  return spec_.loss == NetworkLoss::kLogistic ? evaluate(LogisticLoss<ScalarMath>{})
                                              : evaluate(SquaredLoss<ScalarMath>{});
}

}  // namespace sotto
