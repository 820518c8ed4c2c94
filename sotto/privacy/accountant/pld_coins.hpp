#pragma once

// Bounds in closed form, for events that no lattice can hold: losses beyond 1e4 deviations, rates
// and noise at the ends of double. Internal to the PLD accountant.

#include "sotto/privacy/event.hpp"

namespace sotto::pld {

/// An epsilon at which the event is (epsilon, delta)-DP, as if it were known which batches held the
/// record (pld.proof.md, section 7); 0 < delta < 1. Any event that pld supports; microseconds. Near
/// the truth where losses are large; infinity if the event is not private.
double coin_epsilon(const CanonicalEvent& event, double delta);
/// The same for the delta at epsilon >= 0.
double coin_delta(const CanonicalEvent& event, double epsilon);

}  // namespace sotto::pld
