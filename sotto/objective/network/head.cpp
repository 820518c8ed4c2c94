// The losses at the end of a network, in float64.

#include <algorithm>
#include <cmath>

#include "sotto/loss/loss.hpp"
#include "sotto/loss/scalar_math.hpp"
#include "sotto/objective/network/engine.hpp"

namespace sotto {
namespace {

double softmax_loss(const float* outputs, std::int64_t count, std::int64_t label) {
  const double largest = *std::max_element(outputs, outputs + count);
  double sum = 0;
  for (std::int64_t c = 0; c < count; ++c) sum += std::exp(outputs[c] - largest);
  return std::log(sum) + largest - outputs[label];
}

}  // namespace

double NetworkEngine::class_weight(float label) const {
  if (spec_.class_weights.empty()) return 1;
  const bool softmax = spec_.loss == NetworkLoss::kSoftmax;
  return spec_.class_weights[static_cast<std::size_t>(softmax ? label : label > 0)];
}

/// The loss of one example.
double NetworkEngine::loss_of(const float* outputs, float label) const {
  const double weight = class_weight(label);
  if (spec_.loss == NetworkLoss::kSoftmax)
    return weight * softmax_loss(outputs, outputs_, static_cast<std::int64_t>(label));
  const double z = outputs[0];
  const double y = label;
  return weight * (spec_.loss == NetworkLoss::kLogistic
                       ? loss_value(LogisticLoss<ScalarMath>{}, z, y)
                       : loss_value(SquaredLoss<ScalarMath>{}, z, y));
}

/// The loss's derivatives in the outputs.
void NetworkEngine::slopes_of(const float* outputs, float label, float* slopes) const {
  if (spec_.loss == NetworkLoss::kSoftmax) {
    kernels_.softmax_slopes(outputs, outputs_, static_cast<std::int64_t>(label), slopes);
    if (spec_.class_weights.empty()) return;
    const auto weight = static_cast<float>(class_weight(label));
    for (std::int64_t c = 0; c < outputs_; ++c) slopes[c] *= weight;
    return;
  }
  const double z = outputs[0];
  const double y = label;
  slopes[0] =
      static_cast<float>(class_weight(label) * (spec_.loss == NetworkLoss::kLogistic
                                                    ? loss_slope(LogisticLoss<ScalarMath>{}, z, y)
                                                    : loss_slope(SquaredLoss<ScalarMath>{}, z, y)));
}

}  // namespace sotto
