// Nor does it slip through as the other half of a choice, as it once did.
#include "sotto/data/table.hpp"
#include "sotto/oracle/api/public_problem.hpp"

void fill(sotto::PublicProblem& problem, const sotto::Table& table, std::int64_t declared) {
#ifdef LEAK
  problem.n = problem.relation == sotto::Relation::kAddRemove ? declared : table.units();
#else
  if (const auto n = public_units(declared, table.units(), problem.relation)) problem.n = *n;
#endif
}
