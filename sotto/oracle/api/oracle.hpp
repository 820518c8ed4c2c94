#pragma once

#include <cstdint>

#include "sotto/core/error.hpp"
#include "sotto/core/vector.hpp"
#include "sotto/oracle/api/public_problem.hpp"
#include "sotto/oracle/api/query.hpp"
#include "sotto/oracle/api/released.hpp"
#include "sotto/oracle/api/vertex_query.hpp"

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

  // Geometry (vertex_query.hpp); an oracle that is not made for it says so.
  virtual Expected<Released<Vertex>> select_vertex(const VertexQuery&) { return no_vertices(); }
  virtual Expected<Released<std::int64_t>> select_listed_vertex(const ListedVertexQuery&) {
    return no_vertices();
  }
  virtual Expected<Released<NoisyGap>> gap(const GapQuery&) { return no_vertices(); }

 private:
  static tl::unexpected<Error> no_vertices() {
    return fail(ErrorKind::kInternal, "this oracle answers no questions about vertices.");
  }
};

}  // namespace sotto
