#pragma once

#include "sotto/objective/network/spec.hpp"
#include "sotto/oracle/api/public_problem.hpp"

namespace sotto {

/// What is public about training a network on n units. `all`: the weights that it starts with, of
/// every layer; frozen ones are not parameters of the problem.
PublicProblem network_problem(const NetworkSpec& spec, const Vector& all, PublicCount n);

}  // namespace sotto
