#pragma once

#include "sotto/optimizer/registry.hpp"
#include "sotto/training/prepare.hpp"

namespace sotto {

/// What a private method's settings follow from. `options`: its budget alone, or its noise by hand.
/// Whoever has the same problem, budget and coin configures the same method from them: `prepare`
/// before a run, and who checks a record after it.
Expected<PublicFacts> public_facts(const PublicProblem& problem,
                                   const TrainOptions& options,
                                   double coin);

}  // namespace sotto
