#pragma once

#include "sotto/training/prepare.hpp"

namespace sotto {

/// What a run that continues another one must have in common with it: version, public problem,
/// budget, plan, every setting, the seed if there is one, and what the caller added. All of it is
/// public.
Facts facts_of(const PublicProblem& problem, const TrainOptions& options, const PreparedRun& run);

}  // namespace sotto
