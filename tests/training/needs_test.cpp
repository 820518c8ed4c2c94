// What a method needs of a model is compared with what the model offers before anything is charged.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "sotto/training/train.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/support/toy_engine.hpp"

namespace sotto {
namespace {

using ::testing::HasSubstr;

PublicProblem two_units() {
  PublicProblem problem;
  problem.n = 2;
  problem.dimension = 2;
  problem.row_norm = 1;
  return problem;
}

TrainOptions newton() {
  TrainOptions options;
  options.method = "dp-newton";
  options.epsilon = 1;
  options.delta = 1e-6;
  return options;
}

TEST(Needs, AModelWithoutHessiansIsRefusedWhenTheRunIsPrepared) {
  PublicProblem problem = two_units();
  problem.network = true;
  const auto prepared = prepare(problem, newton());
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(prepared.error().message,
              HasSubstr("dp-newton asks for Hessians, which networks don't have here."));
}

TEST(Needs, AnEngineWithoutThemIsRefusedBeforeACharge) {
  const testing::TempDir dir;
  TrainOptions options = newton();
  options.journal_path = dir.file("journal");
  auto prepared = prepare(two_units(), options);
  ASSERT_TRUE(prepared) << prepared.error().message;
  const testing::FixedGradientsOnly engine({{1, 0}, {0, 1}});
  NoObserver observer;
  const auto result = train(engine, two_units(), options, *std::move(prepared), observer);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message,
              HasSubstr("dp-newton asks for Hessians, which this model does not have here."));
  EXPECT_FALSE(std::filesystem::exists(options.journal_path));
}

}  // namespace
}  // namespace sotto
