#pragma once

#include "sotto/optimizer/first_order/recursive_descent.hpp"

namespace sotto {

/// What dp-srm and private-spiderboost have in common.
void add_recursive_options(OptionTable<RecursiveOptions>& table);

/// Refuses settings that don't go together or don't fit the problem, with the remedy.
Expected<void> check(const RecursiveOptions& options, const PublicProblem& problem);

/// Fills radii, steps, step size and batches from public facts. The horizon (the sum of step sizes)
/// is that of descent_defaults.cpp; steps are `step_share` / L long, as many as it needs, with
/// batches so small that all differences together are `passes` passes over the data.
void fill_recursive(RecursiveOptions& options,
                    const PublicFacts& facts,
                    double step_share,
                    double passes);

}  // namespace sotto
