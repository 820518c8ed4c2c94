#pragma once

#include <cstdint>
#include <optional>

#include "sotto/geometry/mirror_map.hpp"
#include "sotto/optimizer/optimizer.hpp"
#include "sotto/optimizer/parts/constrained.hpp"
#include "sotto/optimizer/parts/output.hpp"

namespace sotto {

// Mirror descent on noisy gradients: dp-pmd, and with the Euclidean map dp-pgd.
//
// Problem     min F(w) = (1/n) sum_i loss(w; i) + r(w) over a convex set, r maybe not smooth
// Update      g = (sum_i clip_C(grad loss_i(w)) + noise) / n + grad of r's smooth part
//             w <- argmin_u <g, u> + (r's other part)(u) + B(u, w) / gamma over the set
// Privacy     repeat(T, gaussian(z))
// Guarantee   (epsilon, delta)-DP; the generalized projected gradient of a random iterate is
//             O((d ln 1/delta)^(1/4) / (n epsilon)^(1/2)) for dp-pgd, with the logarithm of d
//             times the gradients' norm bound instead of d for dp-pmd on an l1 ball
// Source      [WX19] Alg. 1 and 3
// Differs     exact accounting instead of the printed noise, whose rho² should be rho and whose L
//             should be the Lipschitz constant (trap T6); clipping enforces that constant, by
//             default below the loss's own; fixed steps instead of a search on true values (T7);
//             r's smooth part enters by its gradient, not by the prox step; only compositions of
//             prox and projection that are exact; the last iterate, or a random one, drawn first so
//             that only the steps up to it are paid for; starts at 0 or the center unless `start`
//             says random; dp-pmd: three maps, steps in the map's norm instead of units of the set
//             (docs/reference/methods/dp-pgd.md, dp-pmd.md)
//
// letter   meaning           default
// T        steps             2 sqrt(L h) n / (s C z1), s = sqrt(d), or sqrt(2 ln 2d) where the map
//                            is strongly convex in the l1 norm; z1: noise of a single release
// gamma    step_size         (strong convexity of the map) / (2 L)
// C        clip_radius       1.1 times the largest gradient at w = 0

struct ProximalOptions : OutputOptions, CertificateOptions {
  std::optional<std::int64_t> steps;
  std::optional<double> step_size;
  std::optional<double> clip_radius;
  MirrorMap mirror = MirrorMap::kAuto;
  Start start = Start::kAuto;
  std::uint64_t seed = 0;  ///< of a random start
};

class ProximalDescent final : public Optimizer {
 public:
  /// All optional fields filled; `mirror` and `start` fit the problem.
  explicit ProximalDescent(ProximalOptions options);

  Plan plan(const PublicProblem& problem, double noise_multiplier) const override;
  Expected<OptimizerResult> run(Oracle& oracle,
                                double noise_multiplier,
                                Observer& observer) const override;

 private:
  GradientQuery query(const Vector& at, double noise_multiplier) const;

  ProximalOptions options_;
  GapCertifier certificate_;
};

}  // namespace sotto
