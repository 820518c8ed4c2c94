// A loss that a program brings along: its word is taken for nothing that privacy rests on.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "sotto/objective/glm.hpp"
#include "sotto/oracle/claims/claims.hpp"
#include "sotto/oracle/per_example_sum.hpp"

namespace sotto {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

OwnLoss own_logistic() {
  OwnLoss loss;
  loss.name = "mine";
  loss.value = [](double z, double y) noexcept { return std::log1p(std::exp(-y * z)); };
  loss.first = [](double z, double y) noexcept { return -y / (1 + std::exp(y * z)); };
  loss.second = [](double z, double) noexcept {
    const double p = 1 / (1 + std::exp(z));
    return p * (1 - p);
  };
  loss.sup_first = 1;
  loss.inf_second = 0;
  loss.sup_second = 0.25;
  loss.typical_first = 0.5;
  return loss;
}

Table own_rows() {
  std::vector<float> values, labels;
  for (int i = 0; i < 40; ++i) {
    for (int j = 0; j < 5; ++j) values.push_back(static_cast<float>(std::sin(1.7 * i + 2.3 * j)));
    labels.push_back(i % 3 == 0 ? 1.0F : -1.0F);
  }
  return TableBuilder::dense(40, 5, values, labels, {});
}

TEST(OwnLoss, GivesTheSumsOfTheLossThatItIs) {
  const Table table = own_rows();
  const GlmEngine theirs(table, own_logistic());
  const GlmEngine ours(table, LossKind::kLogistic);
  PerExampleSum a(theirs), b(ours);
  const Vector w = Vector::LinSpaced(5, -1, 2);
  const Vector before = Vector::LinSpaced(5, -1, 1.5);
  Vector x, y;
  a.clipped_gradients({}, w, 0.5, x);
  b.clipped_gradients({}, w, 0.5, y);
  EXPECT_GT(y.norm(), 0.1);
  EXPECT_LT((x - y).norm(), 1e-12);
  const PairClip clip{0.3, 0.5, 0.1};
  a.clipped_gradient_pairs({}, w, before, clip, x);
  b.clipped_gradient_pairs({}, w, before, clip, y);
  EXPECT_GT(y.norm(), 0.1);
  EXPECT_LT((x - y).norm(), 1e-12);
  EXPECT_NEAR(a.clipped_losses({}, w, 1), b.clipped_losses({}, w, 1), 1e-12);
  EXPECT_FALSE(theirs.is_convex()) << "nobody has proven it";
}

// Claims of every kind of query, at a public point.
std::vector<double> claims_of(const PublicProblem& problem, ClipRule rule) {
  static const Vector at = Vector::LinSpaced(5, -0.1, 0.2);
  static const Vector before = Vector::LinSpaced(5, -0.1, 0.1);
  static const std::vector<Vector> candidates = {at, before};
  const Claims claims(problem);
  const Sampling full = Sampling::full();
  return {claims.of(GradientQuery{at, full, 1, 1, rule}).sensitivity(),
          claims.of(GradientPairQuery{at, before, full, {0.3, 1, 0.5}, 1, rule}).sensitivity(),
          claims.of(LossQuery{at, full, 1, 1, rule}).sensitivity(),
          claims.of(SelectionQuery{candidates, 1, 1, {}, rule}).sensitivity(),
          claims.of(HessianQuery{at, full, 1, 1, rule}).sensitivity(),
          claims.of(JointQuery{at, full, 1, 1, 1, rule}).sensitivity()};
}

PublicProblem problem_of(const LossInfo& loss, Relation relation) {
  PublicProblem problem;
  problem.n = 40;
  problem.dimension = 5;
  problem.row_norm = 1;
  problem.linear_rows = true;
  problem.relation = relation;
  problem.loss = loss;
  return problem;
}

TEST(OwnLoss, AWrongBoundMovesNoClaim) {
  OwnLoss liar = own_logistic();
  liar.sup_first = liar.sup_second = liar.sup_third = liar.typical_first = 1e-6;
  liar.inf_second = 0;
  OwnLoss modest = own_logistic();
  modest.inf_second = -1e6;
  modest.sup_first = modest.sup_second = modest.sup_third = 1e6;
  for (const Relation relation :
       {Relation::kZeroOut, Relation::kAddRemove, Relation::kReplaceOne}) {
    // What clipping alone bounds: no row norm, no rule, and nothing said to be convex.
    PublicProblem clipped = problem_of(loss_info(LossSpec(LossKind::kSigmoid)), relation);
    clipped.row_norm = kInfinity;
    const auto expected = claims_of(clipped, ClipRule::kFlat);
    for (const OwnLoss& loss : {liar, modest})
      for (const ClipRule rule : {ClipRule::kFlat, ClipRule::kGlm})
        EXPECT_EQ(claims_of(problem_of(loss_info(LossSpec(loss)), relation), rule), expected);
    // The power of this test: were the word taken for proven, the claims would shrink.
    LossInfo believed = loss_info(LossSpec(liar));
    believed.proven = true;
    believed.kind = LossKind::kHuber;
    const auto fooled = claims_of(problem_of(believed, relation), ClipRule::kGlm);
    EXPECT_LT(fooled[0], 1e-3 * expected[0]);
    EXPECT_LT(fooled[1], 1e-3 * expected[1]);
    EXPECT_LT(fooled[4], 1e-3 * expected[4]);
  }
}

TEST(OwnLoss, WhateverItReturnsIsClipped) {
  const Table table = TableBuilder::dense(1, 2, std::vector<float>{3, 4}, {1}, {});
  const Vector w = Vector::Ones(2);
  const auto sum_of = [&](double (*first)(double, double) noexcept) {
    OwnLoss loss = own_logistic();
    loss.sup_first = 1e-6;  // a lie in each case
    loss.first = loss.second = loss.value = first;
    const GlmEngine engine(table, loss);
    PerExampleSum sums(engine);
    Vector sum;
    sums.clipped_gradients({}, w, 0.5, sum);
    const double losses = sums.clipped_losses({}, w, 2);
    EXPECT_GE(losses, 0);
    EXPECT_LE(losses, 2);
    return sum.norm();
  };
  EXPECT_NEAR(sum_of([](double, double) noexcept { return 1e12; }), 0.5, 1e-9);
  EXPECT_NEAR(sum_of([](double, double) noexcept { return -1e200; }), 0.5, 1e-9);
  EXPECT_NEAR(sum_of([](double, double) noexcept { return 0.01; }), 0.05, 1e-9);
  EXPECT_EQ(sum_of([](double, double) noexcept { return kInfinity; }), 0);
  EXPECT_EQ(sum_of([](double, double) noexcept { return std::nan(""); }), 0);
  EXPECT_EQ(sum_of([](double, double) noexcept { return 1e-260; }), 0);
}

}  // namespace
}  // namespace sotto
