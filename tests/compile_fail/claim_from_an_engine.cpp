// A claim comes from public facts and a query; how an engine cuts its rows is not one.
#include "sotto/objective/engine.hpp"
#include "sotto/oracle/claims/claims.hpp"
#include "sotto/release/sensitivity_claim.hpp"

sotto::SensitivityClaim claim(const sotto::Engine& engine,
                              const sotto::PublicProblem& facts,
                              const sotto::LossQuery& query) {
#ifdef LEAK
  return {1 + 1e-16 * static_cast<double>(engine.block_size()), facts.relation, query.sampling};
#else
  static_cast<void>(engine);
  return sotto::Claims(facts).of(query);
#endif
}
