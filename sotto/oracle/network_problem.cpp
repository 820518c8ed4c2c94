#include "sotto/oracle/network_problem.hpp"

#include <limits>

#include "sotto/objective/network/transfer.hpp"

namespace sotto {

PublicProblem network_problem(const NetworkSpec& spec, const Vector& all, PublicCount n) {
  PublicProblem problem;
  problem.n = n;
  problem.row_norm = std::numeric_limits<double>::infinity();
  problem.network = true;
  problem.start = trained_part(spec, all);
  problem.dimension = problem.start.size();
  return problem;
}

}  // namespace sotto
