// Sums over persons with many rows: the rounding bound counts persons, so that a person's rows must
// be summed before they join the others (oracle/per_example_sum.proof.md).

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sotto/data/table.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/objective/network/engine.hpp"
#include "sotto/oracle/per_example_sum.hpp"
#include "tests/objective/network_reference.hpp"

namespace sotto {
namespace {

constexpr int kRows = 1 << 18;
constexpr double kTiny = 0x1p-54;  // of each row of the long person: lost when added to 1

/// One person with one row of gradient 1, then one with kRows rows of gradient kTiny each, in one
/// column of squared loss at w = 0.
Table two_persons(bool sparse) {
  std::vector<float> values(1 + kRows, 0x1p-27F);
  std::vector<float> labels(1 + kRows, -0x1p-27F);
  std::vector<std::int64_t> persons(1 + kRows, 1);
  values[0] = 1;
  labels[0] = -1;
  persons[0] = 0;
  if (!sparse) return TableBuilder::dense(1 + kRows, 1, values, std::move(labels), {}, persons);
  std::vector<std::int64_t> offsets(2 + kRows);
  for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = static_cast<std::int64_t>(i);
  return TableBuilder::sparse(1,
                              std::move(offsets),
                              std::vector<std::int32_t>(1 + kRows, 0),
                              std::move(values),
                              std::move(labels),
                              {},
                              persons);
}

constexpr double kRadius = 2;  // nobody is clipped

double bound() {
  return sum_geometry({1, false}, SumKind::kVector, 1).rounding_error(2, kRadius, 1);
}

/// A network of one weight with the same gradients.
void expect_same_of_a_network(const Table& table, double exact) {
  NetworkSpec spec = testing::make_spec({1, 1, 1}, {"linear 1 nobias"});
  spec.loss = NetworkLoss::kSquared;
  const auto engine = NetworkEngine::make(table, spec).value();
  PerExampleSum sums(*engine);
  const Vector w = Vector::Zero(1);
  Vector sum;
  sums.clipped_gradients({}, w, kRadius, sum);
  EXPECT_NEAR(sum[0], exact, bound());
  sums.clipped_layer_gradients({}, w, kRadius, sum);
  EXPECT_NEAR(sum[0], exact, bound());
  sums.clipped_gradient_pairs({}, w, w, {1, kRadius, kRadius, false}, sum);
  EXPECT_NEAR(sum[0], exact, bound());
}

TEST(PersonSums, APersonsRowsAreSummedBeforeTheyJoinTheOthers) {
  const double exact = 1 + kRows * kTiny;
  for (const bool sparse : {false, true}) {
    const Table table = two_persons(sparse);
    ASSERT_EQ(table.units(), 2);
    const GlmEngine engine(table, {LossKind::kSquared});
    PerExampleSum sums(engine);
    Vector sum, before = Vector::Zero(1);
    sums.clipped_gradients({}, Vector::Zero(1), kRadius, sum);
    EXPECT_NEAR(sum[0], exact, bound()) << sparse;
    sums.clipped_gradient_pairs({}, Vector::Zero(1), before, {1, kRadius, kRadius, false}, sum);
    EXPECT_NEAR(sum[0], exact, bound()) << sparse;
    Matrix hessians;
    sums.clipped_hessians({}, Vector::Zero(1), kRadius, hessians);  // x² is as tiny as x y
    EXPECT_NEAR(hessians(0, 0), exact, bound()) << sparse;
    if (!sparse) expect_same_of_a_network(table, exact);
    sums.clipped_hessian_products({}, Vector::Zero(1), kRadius, Vector::Ones(1), sum);
    EXPECT_NEAR(sum[0], exact, bound()) << sparse;
  }
}

// What the engine once did: every row is one more addition, which the bound does not count.
TEST(PersonSums, RowsThatJoinOneByOneBreakTheBound) {
  double sum = 1;
  for (int i = 0; i < kRows; ++i) sum += kTiny;
  EXPECT_GT(std::abs(sum - (1 + kRows * kTiny)), 100 * bound());
}

}  // namespace
}  // namespace sotto
