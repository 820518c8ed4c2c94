#include "sotto/core/nearest.hpp"

#include <gtest/gtest.h>

namespace sotto {
namespace {

const std::vector<std::string> kVerbs = {"train", "predict", "data", "demo", "report", "reproduce"};

TEST(Nearest, FindsWhatWasMistyped) {
  EXPECT_EQ(nearest("trian", kVerbs), "train") << "a swap is one edit";
  EXPECT_EQ(nearest("tran", kVerbs), "train");
  EXPECT_EQ(nearest("trrain", kVerbs), "train");
  EXPECT_EQ(nearest("trajn", kVerbs), "train");
  EXPECT_EQ(nearest("Train", kVerbs), "train");
  EXPECT_EQ(nearest("dmeo", kVerbs), "demo");
  EXPECT_EQ(nearest("reprot", kVerbs), "report");
}

TEST(Nearest, IsSilentBeyondAThirdOfTheLength) {
  EXPECT_EQ(nearest("fit", kVerbs), std::nullopt);
  EXPECT_EQ(nearest("", kVerbs), std::nullopt);
  EXPECT_EQ(nearest("tr", kVerbs), std::nullopt);
  EXPECT_EQ(nearest("dataset", kVerbs), std::nullopt) << "three of seven letters";
  EXPECT_EQ(nearest("predicted", kVerbs), "predict") << "two of nine";
  EXPECT_EQ(nearest("x", {"y"}), std::nullopt);
  EXPECT_EQ(nearest("train", {}), std::nullopt);
}

TEST(Nearest, PrefersFewerEditsAndThenTheFirst) {
  EXPECT_EQ(nearest("abcd", {"abxx", "abcx", "abcy"}), "abcx");
  EXPECT_EQ(nearest("abcx", {"abxx", "abcx"}), "abcx");
}

TEST(Nearest, DashesDoNotCount) {
  EXPECT_EQ(nearest("dpsgd", {"dp-gd", "dp-sgd"}), "dp-sgd");
  EXPECT_EQ(nearest("dp_sgd", {"dp-gd", "dp-sgd"}), "dp-sgd");
  EXPECT_EQ(nearest("a_b", {"ab", "a-b"}), "ab") << "then the first";
}

TEST(Nearest, TheBeginningOfAWord) {
  EXPECT_EQ(nearest("eps", {"delta", "epsilon"}), "epsilon");
  EXPECT_EQ(nearest("ep", {"delta", "epsilon"}), std::nullopt);
  EXPECT_EQ(nearest("del", {"deli", "delta"}), "deli") << "near comes first";
}

TEST(Nearest, CostsLittleForAWordOfAnyLength) {
  EXPECT_EQ(nearest(std::string(100'000'000, 'a'), kVerbs), std::nullopt);
}

TEST(DidYouMean, FollowsASentence) {
  EXPECT_EQ(did_you_mean("trian", kVerbs), " Did you mean 'train'?");
  EXPECT_EQ(did_you_mean("fit", kVerbs), "");
}

}  // namespace
}  // namespace sotto
