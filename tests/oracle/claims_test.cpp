#include "sotto/oracle/claims/claims.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/privacy/public_count.hpp"

namespace sotto {
namespace {

PublicProblem facts(Relation relation, std::int64_t n) {
  PublicProblem problem;
  problem.n = n;
  problem.dimension = 20;
  problem.relation = relation;
  return problem;
}

// The terms' own bound, and a little for rounding: never less, hardly more.
TEST(Claims, AddTheRoundingOfBothNeighbours) {
  const Vector at = Vector::Zero(20);
  for (const Relation relation :
       {Relation::kZeroOut, Relation::kAddRemove, Relation::kReplaceOne}) {
    const PublicProblem problem = facts(relation, 10'000);
    const Claims claims(problem);
    const double terms = relation == Relation::kReplaceOne ? 2 : 1;
    for (const Sampling& sampling : {Sampling::full(), Sampling::poisson(0.01)}) {
      const GradientQuery query{at, sampling, 1, 1};
      const SensitivityClaim claim = claims.of(query);
      EXPECT_GT(claim.sensitivity(), terms);
      EXPECT_LT(claim.sensitivity(), terms * (1 + 3e-4)) << to_string(relation);
      EXPECT_EQ(claim.relation(), relation);
      EXPECT_EQ(claim.sampling(), sampling);
    }
  }
}

// A method of a program's own may put a Sampling together by hand: the rounding bound would follow
// a rate that neither the batch nor the price has.
TEST(Claims, AreMadeOnlyForSamplingWhoseNumbersAgree) {
  const Vector at = Vector::Zero(20);
  const PublicProblem problem = facts(Relation::kZeroOut, 10'000);
  using Kind = Sampling::Kind;
  for (const Sampling& sampling : {Sampling{Kind::kFull, 1e-9, 0, 0},
                                   Sampling{Kind::kPoisson, 0, 0, 0},
                                   Sampling{Kind::kPoisson, NAN, 0, 0},
                                   Sampling{Kind::kFixedSize, 0.5, 10, 10'000},
                                   Sampling{Kind::kFixedSize, 2, 20'000, 10'000}})
    EXPECT_THROW(Claims(problem).of(GradientQuery{at, sampling, 1, 1}), std::logic_error);
  EXPECT_NO_THROW(Claims(problem).of(GradientQuery{at, Sampling::fixed_size(10, 10'000), 1, 1}));
}

// Under add-remove the number of units is private: the declared one changes no claim.
TEST(Claims, DoNotFollowTheNumberOfUnitsUnderAddRemove) {
  const Vector at = Vector::Zero(20);
  const GradientQuery query{at, Sampling::full(), 1, 1};
  const HessianQuery hessian{at, Sampling::full(), 1, 1};
  const PublicProblem few = facts(Relation::kAddRemove, 10);
  const PublicProblem many = facts(Relation::kAddRemove, 1'000'000);
  EXPECT_EQ(Claims(few).of(query).sensitivity(), Claims(many).of(query).sensitivity());
  EXPECT_EQ(Claims(few).of(hessian).sensitivity(), Claims(many).of(hessian).sensitivity());
}

TEST(PublicCount, IsCountedOnlyWhereNeighboursHaveAsManyUnits) {
  const PrivateCount counted = 17;
  for (const Relation relation : {Relation::kZeroOut, Relation::kReplaceOne}) {
    const auto n = counted_as_public(counted, relation);
    ASSERT_TRUE(n.has_value());
    EXPECT_EQ(*n, 17);
    EXPECT_EQ(public_units(99, counted, relation).value(), 17)
        << "a declared number is for add-remove";
  }
  const auto refused = counted_as_public(counted, Relation::kAddRemove);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message.find("17"), std::string::npos) << "must not tell it either";
  EXPECT_EQ(public_units(99, counted, Relation::kAddRemove).value(), 99);
  EXPECT_FALSE(public_units(0, counted, Relation::kAddRemove).has_value());
}

}  // namespace
}  // namespace sotto
