#pragma once

#include <cstdint>

#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/calibrate.hpp"
#include "sotto/privacy/event.hpp"

namespace sotto {

/// How far, in total variation, one sample of any noise sampler may be from its ideal law. Samplers
/// prove that they keep it (random/gaussian.proof.md).
inline constexpr double kNoiseDistance = 0x1p-60;

/// epsilon finite and > 0, delta in (0, 1).
Expected<void> check(const Target& target);

/// What `samples` imperfect noise samples cost: a mechanism within total variation t of an
/// (epsilon, delta)-private one is (epsilon, delta + (1 + e^epsilon) t)-private.
double sampler_delta(std::int64_t samples, double epsilon);

/// The part of target.delta that remains for the event itself once the samplers are paid for; a
/// budget error if nothing does.
Expected<Target> ideal_target(const Target& target, std::int64_t samples);

/// The epsilon of an event whose noise was drawn with `samples` samples, imperfection included.
/// +infinity if no epsilon holds at this delta.
Expected<double> epsilon_with_samples(const CanonicalEvent& event,
                                      std::int64_t samples,
                                      double delta,
                                      const Accountant& accountant);

}  // namespace sotto
