#pragma once

#include <limits>
#include <span>

#include "sotto/core/vector.hpp"
#include "sotto/privacy/event.hpp"
#include "sotto/privacy/sampling.hpp"

namespace sotto {

/// What bounds a unit's term beside its clip radius.
enum class ClipRule {
  kFlat,    ///< nothing
  kGlm,     ///< for linear models on single rows: what the loss allows at the public points
            ///< (loss/slope_bound.hpp); the noise shrinks, the noise multiplier stays
  kLayers,  ///< each of L layers of a network is clipped to clip_radius / sqrt(L)
};

/// The mean gradient of the data part at `at`: per-unit gradients clipped to clip_radius, summed
/// over a batch, noised, divided by the public expected batch size.
///
/// With count_share > 0 the answer has one more entry: the noisy mean of (1 if a unit's gradient is
/// not longer than clip_radius, else 0) - 1/2. A unit's gradient over clip_radius and ±count_share
/// together are at most sqrt(1 + count_share^2) long, and the noise covers both: still one Gaussian
/// release with the multiplier that is charged (oracle/clip_count.proof.md).
struct GradientQuery {
  const Vector& at;
  Sampling sampling;
  double clip_radius = 0;
  double noise_multiplier = 0;
  ClipRule rule = ClipRule::kFlat;
  double count_share = 0;
};

/// How a pair of gradients g(at), g(before) of one unit becomes its contribution
///   mixture · clip(g(at)) + (1 - mixture) · clip(g(at) - g(before)).
struct PairClip {
  double mixture = 0;            ///< in [0, 1]; 0: the difference alone
  double radius = 0;             ///< of g(at)
  double difference_radius = 0;  ///< of the difference
  /// Clip the whole combination once to reach(), instead of each piece.
  bool together = false;

  /// The largest norm of a unit's contribution.
  double reach() const {
    return (mixture > 0 ? mixture * radius : 0) +
           (mixture < 1 ? (1 - mixture) * difference_radius : 0);
  }
};

/// The mean over a batch of the units' contributions (PairClip), noised: both points see the same
/// batch, in one pass over its rows. Privately it is one release of sensitivity reach(), twice that
/// under replace-one, or less by the rule: oracle/gradient_pair.proof.md.
struct GradientPairQuery {
  const Vector& at;
  const Vector& before;
  Sampling sampling;
  PairClip clip;
  double noise_multiplier = 0;
  ClipRule rule = ClipRule::kFlat;
};

/// The mean loss of the data part at `at`, per-unit losses clipped to [0, clip].
struct LossQuery {
  const Vector& at;
  Sampling sampling;
  double clip = 0;
  double noise_multiplier = 0;
  /// kGlm: the sensitivity is at most what the loss's range at the public iterate allows
  /// (loss/slope_bound.hpp): the width of that range, nearly nothing at w = 0.
  ClipRule rule = ClipRule::kFlat;
};

/// One of the candidates, the better the smaller its loss: the exponential mechanism on the sums of
/// losses clipped to [0, clip], full batch.
struct SelectionQuery {
  std::span<const Vector> candidates;
  double clip = 0;
  double epsilon = 0;
  /// Added to each candidate's mean loss, e.g. its regularizer; public. Empty: nothing.
  std::span<const double> public_part = {};
  ClipRule rule = ClipRule::kFlat;
  /// Not null: by the losses' changes against this point, a unit's change clipped to +-clip. For
  /// candidates near it a bound on the change (slope x row norm x distance) is far below one on the
  /// loss.
  const Vector* origin = nullptr;
};

/// What answering a query releases: the one place where queries become events. Plans are made with
/// the same function, so that a plan and its run can't drift apart.
template <class Query>
Event event_of(const Query& query, Relation relation) {
  return query.sampling.applied_to(Event::gaussian(query.noise_multiplier, relation));
}
inline Event event_of(const SelectionQuery& query, Relation relation) {
  return Event::exponential(query.epsilon, relation);
}

}  // namespace sotto
