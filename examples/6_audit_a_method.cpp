// Attacks a method of one's own (normalized_descent.hpp): runs it on two made-up data sets that
// differ in one record, and tests how well somebody who sees every released value can tell them
// apart. `sotto audit` does the same for methods of the registry.

#include <cstdio>

#include "normalized_descent.hpp"
#include "sotto/sotto.hpp"

int main() {
  using namespace sotto;

  // Enough to find a method that is 1.3 times less private than it claims (runs_needed).
  constexpr std::int64_t kRuns = 6'000;
  const MethodInfo method = examples::normalized_descent();
  MethodAuditOptions what;
  what.unlisted = &method;
  what.epsilon = 1;
  what.delta = 1e-5;
  what.seed = 1;  // all data are made up, so nothing is lost by a known seed
  const auto found = audit_method(what, kRuns);
  if (!found) return std::fprintf(stderr, "%s\n", found.error().message.c_str()), 1;

  const std::string verdict(to_string(found->verdict));
  std::printf("%s: %s\n", method.name.c_str(), verdict.c_str());
  std::printf("epsilon is at least %.2f (claimed %.2f), by %lld runs per world\n",
              found->lower_bound,
              what.epsilon,
              static_cast<long long>(found->runs));
  return found->verdict == Verdict::kContradicts ? 1 : 0;
}

// Output:
//   normalized-descent: consistent
//   epsilon is at least 0.56 (claimed 1.00), by 6000 runs per world
