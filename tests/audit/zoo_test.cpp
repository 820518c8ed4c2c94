// The quick part of the zoo; tests/slow/zoo_test.cpp has all of it.

#include <gtest/gtest.h>

#include "tests/support/zoo/full_batch.hpp"
#include "tests/support/zoo/sampled.hpp"

namespace sotto {
namespace {

using namespace testing::zoo;

TEST(Zoo, QuickCasesAreCaught) {
  for (const Case& broken : {halved_sensitivity(),
                             clip_after_averaging(),
                             private_means(),
                             noise_against_preference(),
                             fixed_size_as_poisson(),
                             fixed_size_pairs_as_poisson()}) {
    const Judgement found = expect_caught(broken, 1.3, {0.99, 0.2});
    EXPECT_LE(found.plain_bound, broken.real) << broken.name;
  }
}

TEST(Zoo, BatchesWithReplacementSpendMoreThanThePriceWithout) {
  EXPECT_GE(with_replacement_real(16, 20), 1.3 * kEpsilon);
  EXPECT_GE(with_replacement_real(50, 100), 1.3 * kEpsilon);
  EXPECT_NEAR(with_replacement_real(1, 20), kEpsilon, 0.002) << "one draw is the same either way";
}

}  // namespace
}  // namespace sotto
