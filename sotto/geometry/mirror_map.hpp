#pragma once

#include <memory>

#include "sotto/core/archive.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/core/vector.hpp"
#include "sotto/geometry/constraint_set.hpp"
#include "sotto/geometry/regularizer.hpp"

namespace sotto {

/// kAuto: entropy on a simplex, pnorm on an l1 ball, else euclidean.
enum class MirrorMap { kAuto, kEuclidean, kPNorm, kEntropy };
inline constexpr Named<MirrorMap> kMirrorMaps[] = {{MirrorMap::kAuto, "auto"},
                                                   {MirrorMap::kEuclidean, "euclidean"},
                                                   {MirrorMap::kPNorm, "pnorm"},
                                                   {MirrorMap::kEntropy, "entropy"}};

/// Mirror descent's iterate: where it is, and how it moves by
///   argmin_u ⟨g, u⟩ + s(u) + B(u, w) / step over the set,
/// s being the regularizer's part that is not smooth and B the Bregman distance of a map ψ that is
/// `modulus`-strongly convex in the norm that `in_l1` names (l1, or Euclidean).
///
///   euclidean  ψ = ‖w‖²/2: the prox step (constrained_prox.hpp). Any set it accepts.
///   pnorm      ψ = ‖w‖_q² / (2(q-1)), q = 1 + 1/ln d (2 for d < 3) [BMN01]. The whole space or an
///   l1
///              ball; its threshold is found by bisection to the last bit.
///   entropy    ψ = Σ u ln u: multiplicative updates on a simplex, and for an l1 ball on the 2d + 1
///              positive parts, negative parts and the slack [KW97]. Weights are kept as
///              logarithms.
///
/// Costs O(d) a step (pnorm: times about 60 where the ball is active).
class MirrorIterate {
 public:
  /// Fails (kUsage) where the map does not fit the set or the regularizer, with the reason.
  static Expected<std::unique_ptr<MirrorIterate>> make(MirrorMap map,
                                                       const ConstraintPtr& set,
                                                       const Regularizer& regularizer,
                                                       const Vector& start);
  virtual ~MirrorIterate() = default;

  virtual const Vector& w() const = 0;
  /// `gradient` includes the regularizer's smooth part.
  virtual void move(const Vector& gradient, double step) = 0;
  virtual MirrorMap map() const = 0;
  /// Strong convexity of ψ, and in which norm.
  virtual double modulus() const = 0;
  virtual bool in_l1() const = 0;
  /// Where it is.
  virtual void archive(Archive& state) = 0;
};

}  // namespace sotto
