#pragma once

// What preparing and running share.

#include "sotto/core/capabilities.hpp"
#include "sotto/oracle/api/public_problem.hpp"
#include "sotto/random/stream.hpp"
#include "sotto/training/prepare.hpp"

namespace sotto {

/// The run's randomness for a purpose: fresh, unless a test or a reproduction gave a seed.
Stream make_stream(const TrainOptions& options, Purpose purpose);

/// Refuses a method that asks for more than a model or an engine offers.
Expected<void> check_needs(const MethodInfo& method,
                           const PublicProblem& problem,
                           Capabilities offers);

}  // namespace sotto
