#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sotto/objective/network/transfer.hpp"

namespace sotto {
namespace {

NetworkSpec network(const std::string& layers) {
  const auto spec = parse_network(
      "input = [1, 6, 6]\nloss = \"softmax\"\nlayers = [" + layers + "]\n", "net.toml");
  EXPECT_TRUE(spec) << spec.error().message;
  return *spec;
}

TEST(NetworkTransfer, TakesTheLayersThatAgreeAndLeavesTheRest) {
  const NetworkSpec mine = network(R"("conv 2 3x3", "relu", "flatten", "linear 4", "linear 3")");
  const NetworkSpec other = network(R"("conv 2 3x3", "relu", "flatten", "linear 4", "linear 7")");
  const Vector all = Vector::Constant(parameter_count(mine), 1);
  const Vector given = Vector::Constant(parameter_count(other), 2);
  const auto begun = begun_from(mine, all, other, given);
  ASSERT_TRUE(begun) << begun.error().message;
  const auto ranges = parameter_ranges(mine);
  for (std::size_t i = 0; i < ranges.size(); ++i)
    for (auto k = ranges[i].begin; k < ranges[i].begin + ranges[i].count(); ++k)
      EXPECT_EQ((*begun)[k], i + 1 == ranges.size() ? 1 : 2) << "layer " << i;
}

TEST(NetworkTransfer, AFrozenLayerNeedsACounterpart) {
  NetworkSpec mine = network(R"("conv 2 3x3", "relu", "flatten", "linear 3")");
  const NetworkSpec other = network(R"("conv 4 3x3", "relu", "flatten", "linear 3")");
  mine.layers[0].frozen = true;
  const auto begun = begun_from(
      mine, Vector::Zero(parameter_count(mine)), other, Vector::Zero(parameter_count(other)));
  ASSERT_FALSE(begun);
  EXPECT_EQ(begun.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(begun.error().message, ::testing::HasSubstr("layer 1 is frozen"));
}

TEST(NetworkTransfer, TrainedPartsGoOutAndBack) {
  NetworkSpec spec = network(R"("conv 2 3x3", "relu", "flatten", "linear 4", "linear 3")");
  spec.layers[0].frozen = spec.layers[3].frozen = true;
  const Vector all = Vector::LinSpaced(parameter_count(spec), 0, 1);
  const Vector part = trained_part(spec, all);
  EXPECT_EQ(part.size(), 4 * 3 + 3);
  EXPECT_EQ(part, all.tail(15));
  const Vector changed = with_trained_part(spec, all, part * 2);
  EXPECT_EQ(changed.head(all.size() - 15), all.head(all.size() - 15));
  EXPECT_EQ(changed.tail(15), all.tail(15) * 2);
}

}  // namespace
}  // namespace sotto
