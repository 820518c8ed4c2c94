// An optimizer holds an oracle; the rows behind it stay out of reach, even for one that knows the
// oracle's real type.
#include "sotto/oracle/private_oracle.hpp"

std::int64_t optimizer(sotto::PrivateOracle& oracle) {
#ifdef LEAK
  return oracle.engine_.units();
#else
  return oracle.problem().n;
#endif
}
