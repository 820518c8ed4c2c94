#pragma once

// The laws that an event asks the PLD accountant to compose. Internal to it.

#include <vector>

#include "sotto/privacy/accountant/pld_plan.hpp"

namespace sotto::pld {

/// One direction of an event. `upper` dominates it. Where data attain those laws, the same list
/// also bounds the truth from below; elsewhere each list of `attained` does, being the loss of data
/// that can occur.
struct Way {
  std::vector<CountedLaw> upper;
  bool is_attained = true;
  bool is_merged = false;  ///< kinds that are alike were composed as one
  std::vector<std::vector<CountedLaw>> attained;
};

struct Laws {
  bool is_private = true;
  bool fit_lattice = true;  ///< otherwise only closed forms bound the event
  bool are_merged = false;  ///< of too many kinds: closed forms may be nearer
  std::vector<Way> ways;    ///< each to be composed as a whole
};

/// Refuses by name what has no theorem here.
Expected<Laws> laws_of(const CanonicalEvent& event);

}  // namespace sotto::pld
