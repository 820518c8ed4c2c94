// What was learnt from an answer may steer a run, never what the run is charged for.
#include "sotto/core/vector.hpp"
#include "sotto/oracle/api/derived_fact.hpp"

sotto::Event next(const sotto::Released<double>& answer) {
  const auto fact = sotto::released_as_public(answer, [](double x) { return 2 * x; });
#ifdef LEAK
  return sotto::Event::gaussian(fact, sotto::Relation::kZeroOut);
#else
  static_cast<void>(fact.value());
  return sotto::Event::gaussian(2, sotto::Relation::kZeroOut);
#endif
}
