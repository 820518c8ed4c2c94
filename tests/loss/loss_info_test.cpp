#include "sotto/loss/loss_info.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sotto {
namespace {

using ::testing::HasSubstr;

TEST(ParseLoss, ReadsEveryLossAndItsTextBack) {
  for (const char* text :
       {"logistic", "sigmoid", "squared", "huber:1", "huber:0.25", "phase-retrieval:2"}) {
    const auto loss = parse_loss(text);
    ASSERT_TRUE(loss.has_value()) << text;
    EXPECT_EQ(to_string(*loss), text);
  }
  EXPECT_EQ(parse_loss("huber")->threshold, 1);
  EXPECT_EQ(parse_loss("huber:0.25")->threshold, 0.25);
  EXPECT_EQ(parse_loss("phase-retrieval")->threshold, 1);
}

TEST(ParseLoss, ReadsTheNameOfAnOwnLossAndNoMore) {
  for (const char* text : {"own:savage", "own:my-loss-2:regression"}) {
    const auto loss = parse_loss(text);
    ASSERT_TRUE(loss.has_value()) << text;
    EXPECT_EQ(to_string(*loss), text);
    EXPECT_FALSE(loss->own->computable());
    EXPECT_FALSE(loss_info(*loss).proven);
    EXPECT_FALSE(check_loss(*loss)) << "there is nothing to train with";
  }
  EXPECT_TRUE(parse_loss("own:a")->own->classification);
  EXPECT_FALSE(parse_loss("own:a:regression")->own->classification);
  for (const char* text : {"own", "own:", "own:a b", "own:a:b", "own::regression"})
    EXPECT_FALSE(parse_loss(text)) << text;
}

TEST(ParseLoss, RefusesOthersWithTheRemedy) {
  for (const char* text : {"", "hinge", "Logistic", "logistic:1", "phase-retrieval1"}) {
    const auto loss = parse_loss(text);
    ASSERT_FALSE(loss.has_value()) << text;
    EXPECT_EQ(loss.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(loss.error().message, HasSubstr("logistic, sigmoid, multinomial, squared, huber"));
  }
  for (const char* text : {"huber:",
                           "huber:0",
                           "huber:-1",
                           "huber:inf",
                           "huber:nan",
                           "huber:1x",
                           "phase-retrieval:0"}) {
    const auto loss = parse_loss(text);
    ASSERT_FALSE(loss.has_value()) << text;
    EXPECT_THAT(loss.error().message, HasSubstr("finite and > 0"));
  }
}

TEST(LossInfo, SaysWhichLossesClassify) {
  EXPECT_TRUE(loss_info({LossKind::kLogistic}).classification);
  EXPECT_TRUE(loss_info({LossKind::kSigmoid}).classification);
  EXPECT_FALSE(loss_info({LossKind::kSquared}).classification);
  EXPECT_FALSE(loss_info({LossKind::kHuber}).classification);
  EXPECT_FALSE(loss_info({LossKind::kPhaseRetrieval}).classification);
  EXPECT_EQ(loss_info({LossKind::kHuber, 0.5}).sup_first, 0.5);
  EXPECT_EQ(loss_info({LossKind::kSigmoid}).sup_abs_second(),
            -loss_info({LossKind::kSigmoid}).inf_second);
}

}  // namespace
}  // namespace sotto
