#pragma once

#include <cstdint>
#include <memory>

#include "sotto/core/error.hpp"
#include "sotto/core/vector.hpp"
#include "sotto/oracle/api/public_problem.hpp"
#include "sotto/oracle/api/query.hpp"
#include "sotto/oracle/api/second_order.hpp"
#include "sotto/oracle/api/vertex_query.hpp"
#include "sotto/release/released.hpp"

namespace sotto {

/// All that an optimizer can learn about the data. Every answer is already noisy and already paid
/// for (PrivateOracle), or the run is marked as not private (ExactOracle). What an optimizer
/// computes from answers is post-processing: a bug there costs accuracy, never privacy.
///
/// A budget error means that the answer was refused before any row was read.
class Oracle {
 public:
  virtual ~Oracle() = default;

  virtual const PublicProblem& problem() const = 0;

  virtual Expected<Released<Vector>> gradient(const GradientQuery& query) = 0;
  virtual Expected<Released<Vector>> gradient_pair(const GradientPairQuery& query) = 0;
  /// The number of the chosen candidate.
  virtual Expected<Released<std::int64_t>> select(const SelectionQuery& query) = 0;
  virtual Expected<Released<double>> loss(const LossQuery& query) = 0;

  /// The standard deviation of each coordinate of the answer to this query, public; 0 if it is
  /// exact.
  virtual double gradient_sigma(const GradientQuery&) const { return 0; }

  // Second order. An oracle or engine without them refuses (kUsage), as does a dense Hessian that
  // the memory can't hold (core/dense_limit.hpp).
  virtual Expected<Released<NoisyHessian>> hessian(const HessianQuery&) {
    return no_second_order();
  }
  virtual Expected<Released<NoisyGradientHessian>> gradient_and_hessian(const JointQuery&) {
    return no_second_order();
  }
  /// The operator must not outlive the oracle.
  virtual Expected<std::unique_ptr<NoisyOperator>> hessian_operator(const HessianOperatorQuery&) {
    return no_second_order();
  }
  /// The number of the first accepted candidate; -1 if there is none.
  virtual Expected<Released<std::int64_t>> first_decrease(const DecreaseQuery&) {
    return no_second_order();
  }

  // Geometry (vertex_query.hpp); an oracle that is not made for it says so.
  virtual Expected<Released<Vertex>> select_vertex(const VertexQuery&) { return no_vertices(); }
  virtual Expected<Released<std::int64_t>> select_listed_vertex(const ListedVertexQuery&) {
    return no_vertices();
  }
  virtual Expected<Released<NoisyGap>> gap(const GapQuery&) { return no_vertices(); }

 protected:
  static tl::unexpected<Error> no_second_order() {
    return fail(ErrorKind::kUsage,
                "this model has no Hessians, which the method needs. Use a linear model, or a "
                "first-order method (see `sotto methods`).");
  }
  static tl::unexpected<Error> no_vertices() {
    return fail(ErrorKind::kInternal, "this oracle answers no questions about vertices.");
  }
};

}  // namespace sotto
