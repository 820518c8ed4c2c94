#pragma once

#include <span>

namespace sotto {

/// weights[k] = min(1, radius / norms[k]): scales an example whose norm bound exceeds the radius
/// onto it. A non-finite norm gets weight 0, so that a broken row contributes nothing and nobody
/// learns of it. Proof that the contribution is at most the radius: clip_rule.proof.md.
void clip_weights(std::span<const double> norms, double radius, std::span<double> weights);

}  // namespace sotto
