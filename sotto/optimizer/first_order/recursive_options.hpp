#pragma once

#include "sotto/optimizer/first_order/recursive_descent.hpp"

namespace sotto {

/// What dp-srm and private-spiderboost have in common.
void add_recursive_options(OptionTable<RecursiveOptions>& table);

/// Refuses settings that make no sense, with the remedy.
Expected<void> check(const RecursiveOptions& options, const PublicProblem& problem);

/// How long to run and how noisy that is, from public facts: see descent_defaults.cpp, whose
/// argument and constants this shares.
struct Horizon {
  double R;
  double smoothness;  ///< of the objective, L
  double length;      ///< h, the sum of step sizes
};
Horizon horizon_of(const PublicFacts& facts, double clip_radius);

}  // namespace sotto
