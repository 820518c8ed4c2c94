// The fuzz of tests/privacy/extremes_test.cpp, at length.

#include "tests/support/accountant_fuzz.hpp"

namespace sotto {
namespace {

TEST(AccountantFuzz, EveryAccountantAnswersOrRefusesInTime) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    testing_support::WildEvents wild(seed);
    for (int i = 0; i < 300; ++i) {
      const Event event = wild.event();
      const double delta = wild.delta();
      testing_support::expect_answers(event, delta, 1 / wild.noise());
    }
  }
}

}  // namespace
}  // namespace sotto
