#pragma once

#include "sotto/core/vector.hpp"
#include "sotto/objective/engine.hpp"
#include "sotto/oracle/api/public_problem.hpp"
#include "sotto/record/run_record.hpp"

namespace sotto {

/// True values at w on the engine's rows: objective, gradient norm, and where they mean something
/// the generalized projected gradient norm and the Frank–Wolfe gap. NOT private: for the evaluation
/// log only. One pass for the gradient, one for the losses.
Diagnostics true_values(const Engine& engine, const PublicProblem& problem, const Vector& w);

/// The norm of the mean gradient over public held-out rows, an estimate of the population's
/// gradient norm at w, with the standard error √(E‖g - ḡ‖² / m) of that mean [WX19, Theorem 3].
/// `engine` has the held-out rows, at least two. Touches no private row.
PopulationGradient population_gradient(const Engine& engine,
                                       const PublicProblem& problem,
                                       const Vector& w);

}  // namespace sotto
