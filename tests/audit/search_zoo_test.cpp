// A broken twin of the searches for second-order points must be caught.

#include <gtest/gtest.h>

#include "tests/support/zoo/stop_on_true_loss.hpp"

namespace sotto {
namespace {

using namespace testing::zoo;

TEST(SearchZoo, StoppingOnTheTrueLossIsCaught) {
  expect_caught(stop_on_true_loss(), 1, {0.99, 0.1});
}

}  // namespace
}  // namespace sotto
