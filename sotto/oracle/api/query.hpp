#pragma once

#include "sotto/core/vector.hpp"
#include "sotto/privacy/event.hpp"
#include "sotto/privacy/sampling.hpp"

namespace sotto {

/// The mean gradient of the data part at `at`: per-unit gradients clipped to clip_radius, summed
/// over a batch, noised, divided by the public expected batch size.
struct GradientQuery {
  const Vector& at;
  Sampling sampling;
  double clip_radius = 0;
  double noise_multiplier = 0;
};

/// The mean loss of the data part at `at`, per-unit losses clipped to [0, clip].
struct LossQuery {
  const Vector& at;
  Sampling sampling;
  double clip = 0;
  double noise_multiplier = 0;
};

/// What answering a query releases: the one place where queries become events. Plans are made with
/// the same function, so that a plan and its run can't drift apart.
template <class Query>
Event event_of(const Query& query, Relation relation) {
  return query.sampling.applied_to(Event::gaussian(query.noise_multiplier, relation));
}

}  // namespace sotto
