#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "sotto/optimizer/optimizer.hpp"
#include "sotto/optimizer/parts/constrained.hpp"
#include "sotto/optimizer/parts/output.hpp"

namespace sotto {

// Frank–Wolfe on a bounded set: dp-fw-l2 sees noisy gradients, dp-fw-l1 noisily chosen vertices.
//
// Problem     min F(w) = (1/n) sum_i loss(w; i) + r(w) over a bounded convex set, r smooth
// Update      v = about argmin <v, grad F(w)> over the set;  w <- (1 - gamma) w + gamma v
//             dp-fw-l2: of the gradient clipped to C and with Gaussian noise
//             dp-fw-l1: a vertex, chosen by the exponential mechanism (or report-noisy-max) from
//             gradients whose entries are clipped to C_max
// Privacy     repeat(T, gaussian(z)), or repeat(T, exponential(2/z)); permute-and-flip's selection
//             is priced as any 1/z-DP release
// Guarantee   (epsilon, delta)-DP; the Frank–Wolfe gap of a random iterate is O(sqrt(h K / T)) plus
//             the selection's error, which grows with the set's Gaussian width (dp-fw-l2) or the
//             logarithm of the number of vertices (dp-fw-l1)
// Source      [WX19] Alg. 2 and 4; steps for nonconvex objectives [LJ16]
// Differs     a selection costs epsilon²/8 in zCDP, where the paper adds up by advanced
//             composition: 4 to 7 times less noise than printed; clipping enforces the papers'
//             Lipschitz constants, by default below the loss's own; step and number of steps from
//             [LJ16] with their constants instead of an unspecified O; any bounded set, not only
//             centrally symmetric ones; a smooth r, where the paper has none; the last iterate, or
//             a random one, drawn first; dp-fw-l1 adds Gaussian noise instead where the rows'
//             geometry makes that better (docs/reference/methods/dp-fw-l2.md, dp-fw-l1.md)
//
// letter   meaning       default
// T        steps         sqrt(2 h K) / (error of a step with the whole budget), in [10, 5000]
// gamma    step_size     min(1, sqrt(2 h / (K T))), K: curvature constant, the lesser of L times
//                        squared diameter in the Euclidean and in the l1 norm
// C        clip_radius   1.1 times the largest gradient at w = 0
// C_max    clip_max      the same for its entries

/// How a vertex is chosen; kAuto: as exponential_is_better() says.
enum class Selection { kAuto, kExponential, kNoisyMax, kGaussian };

struct FrankWolfeOptions : OutputOptions, CertificateOptions {
  std::optional<std::int64_t> steps;
  std::optional<double> step_size;
  bool harmonic = false;  ///< steps 2 / (t + 2), not the theory's constant ones
  Selection selection = Selection::kAuto;
  std::optional<double> clip_radius;
  std::optional<double> clip_max;
  Start start = Start::kAuto;
  std::uint64_t seed = 0;  ///< of a random start
};

/// The step of number t = 0, 1, …
double frank_wolfe_step(const FrankWolfeOptions& options, std::int64_t t);

/// What the three ways to find a vertex share.
class FrankWolfe : public Optimizer {
 protected:
  explicit FrankWolfe(FrankWolfeOptions options);

  /// T releases of one kind, with so many noise samples each; what the output asks; the
  /// certificate.
  Plan plan_of(Event step,
               std::int64_t samples,
               const PublicProblem& problem,
               double noise_multiplier) const;

  /// Finds the vertex v to go to from w; the gradient's norm, if it knows one, else 0.
  using Towards = std::function<Expected<double>(const Vector& w, Vector& v)>;
  /// A run on dense iterates.
  Expected<OptimizerResult> walk(Oracle& oracle,
                                 double noise_multiplier,
                                 Observer& observer,
                                 const Towards& towards) const;

  FrankWolfeOptions options_;
  GapCertifier certificate_;
};

/// dp-fw-l2, on any bounded set.
class GradientFrankWolfe final : public FrankWolfe {
 public:
  explicit GradientFrankWolfe(FrankWolfeOptions options) : FrankWolfe(std::move(options)) {}
  Plan plan(const PublicProblem& problem, double noise_multiplier) const override;
  Expected<OptimizerResult> run(Oracle& oracle,
                                double noise_multiplier,
                                Observer& observer) const override;

 private:
  GradientQuery query(const Vector& at, double noise_multiplier) const;
};

/// dp-fw-l1, on an l1 ball or a simplex: the iterate is a sparse path (geometry/vertex_path.hpp).
class VertexFrankWolfe final : public FrankWolfe {
 public:
  explicit VertexFrankWolfe(FrankWolfeOptions options);
  Plan plan(const PublicProblem& problem, double noise_multiplier) const override;
  Expected<OptimizerResult> run(Oracle& oracle,
                                double noise_multiplier,
                                Observer& observer) const override;
};

/// dp-fw-l1, on a polytope with listed vertices.
class ListedFrankWolfe final : public FrankWolfe {
 public:
  explicit ListedFrankWolfe(FrankWolfeOptions options) : FrankWolfe(std::move(options)) {}
  Plan plan(const PublicProblem& problem, double noise_multiplier) const override;
  Expected<OptimizerResult> run(Oracle& oracle,
                                double noise_multiplier,
                                Observer& observer) const override;
};

/// What the selections share: the privacy of one of them, as a function of the noise multiplier.
double selection_epsilon(const FrankWolfeOptions& options, double noise_multiplier);

}  // namespace sotto
