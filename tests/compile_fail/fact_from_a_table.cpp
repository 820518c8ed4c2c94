// A table's count becomes public by one door, which asks for the relation.
#include "sotto/data/table.hpp"
#include "sotto/oracle/api/public_problem.hpp"

void fill(sotto::PublicProblem& problem, const sotto::Table& table) {
#ifdef LEAK
  problem.n = table.units();
#else
  if (const auto n = counted_as_public(table.units(), problem.relation)) problem.n = *n;
#endif
}
