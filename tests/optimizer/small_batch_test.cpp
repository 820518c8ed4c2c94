// Methods that choose their noise on small batches: noise that the budget can pay for, and saddles
// that are left on a batch's word.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sotto/data/table.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/optimizer/registry.hpp"
#include "sotto/optimizer/second_order/scout.hpp"
#include "sotto/oracle/private_oracle.hpp"
#include "sotto/privacy/filter.hpp"
#include "sotto/training/train.hpp"
#include "tests/support/funds.hpp"
#include "tests/support/toy_engine.hpp"

namespace sotto {
namespace {

using testing::Funds;
using testing::kSingle;

/// What the filter of Funds says, of releases made one by one.
double filter_price(const Sampling& sampling, double multiplier) {
  const auto filter = make_rdp_filter({1, 1e-5});
  const Event release = sampling.applied_to(Event::gaussian(multiplier, Relation::kZeroOut));
  return (*filter)->try_spend(release) ? (*filter)->spent()
                                       : std::numeric_limits<double>::infinity();
}

/// What a scout gets on batches of 10 of 1000 rows if it asks for a noise multiplier of 0.6.
struct Looks {
  int count = 0;
  double multiplier = 0;
};
Looks precise_looks(bool knows_the_price) {
  const testing::FixedGradients engine(std::vector<std::vector<double>>(1000, {0.3, -0.2}));
  PublicProblem problem;
  problem.n = 1000;
  problem.dimension = 2;
  problem.relation = Relation::kZeroOut;
  Funds funds("rdp");
  PrivateOracle oracle(engine,
                       problem,
                       *funds.ledger,
                       Stream::seeded(1, Purpose::kSampling),
                       Stream::seeded(2, Purpose::kNoise));
  SearchOptions options;
  options.gradient_tolerance = options.curvature_tolerance = 1e-6;
  options.clip_radius = options.hessian_clip = 1;
  options.certificate_share = 0;
  options.expected_batch = 10;
  options.single_release = kSingle;
  if (knows_the_price) options.sampled_price = filter_price;
  Scout scout(oracle, options);
  Looks looks;
  while (const auto look = scout.slope(Vector::Zero(2), 0.06, Sampling::poisson(0.01))) {
    EXPECT_EQ(look->limited, knows_the_price);
    ++looks.count;
    looks.multiplier = look->sigma * 10;
  }
  return looks;
}

TEST(SmallBatches, NoReleaseTakesMoreThanItsPartOfTheBudget) {
  const Looks looks = precise_looks(true);
  EXPECT_GE(looks.count, Scout::kLeastReleases);
  EXPECT_LE(filter_price(Sampling::poisson(0.01), looks.multiplier), 1 / Scout::kLeastReleases);
  // Nor is there more noise than that takes: a grid step below, a release costs too much.
  EXPECT_GT(filter_price(Sampling::poisson(0.01), looks.multiplier / 1.0906),
            1 / Scout::kLeastReleases);
}

TEST(SmallBatches, WithoutTheFiltersPriceTheFirstReleaseIsRefused) {
  EXPECT_EQ(precise_looks(false).count, 0) << "at order 2 this noise costs a twentieth of the "
                                              "budget, the filter's more than all of it";
}

/// (<x, w>^2 - y)^2 / 4 with y = <x, w*>^2, |w*| = 3: w = 0 is a strict saddle.
struct Retrieval {
  static constexpr int kRows = 40'000, kDim = 4;
  Vector truth = Eigen::Vector4d(2, -1, 2, 0);
  LossSpec loss{LossKind::kPhaseRetrieval, 9};
  Table table = [&] {
    Stream random = Stream::seeded(5, Purpose::kData);
    std::vector<float> rows, labels;
    for (int i = 0; i < kRows; ++i) {
      Vector x(kDim);
      for (double& v : x)
        v = std::sqrt(-2 * std::log(random.uniform())) * std::cos(2 * M_PI * random.uniform());
      x *= 0.9999 / x.norm();
      for (const double v : x) rows.push_back(static_cast<float>(v));
      labels.push_back(static_cast<float>(std::pow(x.dot(truth), 2)));
    }
    return TableBuilder::dense(kRows, kDim, rows, labels, {});
  }();
  GlmEngine engine{table, loss};
  GivenOptions options = {{"gradient_tolerance", "0.05"},
                          {"curvature_tolerance", "0.05"},
                          {"clip_radius", "2"},
                          {"hessian_clip", "4"},
                          {"smoothness", "1"},
                          {"hessian_lipschitz", "0.3"},
                          {"certificate_share", "0"},
                          {"gap", "1"},
                          {"steps", "60"},
                          {"precision", "0.01"},
                          {"expected_batch", "1000"}};

  PublicProblem problem() const {
    PublicProblem p;
    p.n = kRows;
    p.dimension = kDim;
    p.row_norm = 1;
    p.relation = Relation::kZeroOut;
    p.loss = loss_info(loss);
    return p;
  }
};

/// Stops after one step.
class OneStep final : public Observer {
 public:
  bool keep_going(const StepReport&) override { return false; }
};

struct FirstStep {
  OptimizerResult result;
  double visits = 0;  ///< of rows
};

FirstStep first_step(const Retrieval& data, const Optimizer& optimizer) {
  Funds funds("rdp");
  PrivateOracle oracle(data.engine,
                       data.problem(),
                       *funds.ledger,
                       Stream::seeded(1, Purpose::kSampling),
                       Stream::seeded(2, Purpose::kNoise));
  OneStep observer;
  auto result = optimizer.run(oracle, 1, observer);
  EXPECT_TRUE(result) << result.error().message;
  return {*std::move(result), static_cast<double>(oracle.row_visits())};
}

TEST(SmallBatches, ASaddleIsLeftWithoutAPassOverTheData) {
  const Retrieval data;
  for (const char* method : {"dp-tr-b", "opt-b", "2opt-b"}) {
    TrainOptions wanted;
    wanted.method = method;
    wanted.options = data.options;
    wanted.epsilon = 1;
    wanted.delta = 1e-5;
    wanted.seed = 1;
    const auto prepared = prepare(data.problem(), wanted);
    ASSERT_TRUE(prepared) << method << ": " << prepared.error().message;
    const FirstStep out = first_step(data, *prepared->configured.optimizer);
    EXPECT_EQ(out.result.stopped, StopReason::kStoppedEarly) << method;
    EXPECT_LE(out.visits, Retrieval::kRows / 4) << method << ": a few batches only";
    // The direction of -w* and w*, with which a random one in four dimensions has a cosine of 0.42
    // on average.
    const Vector& w = out.result.w;
    EXPECT_GT(w.norm(), 0.3) << method;
    EXPECT_GT(std::abs(w.dot(data.truth)) / (3 * w.norm()), 0.8) << method;
  }
}

TEST(SmallBatches, ASearchThatDoesNotKnowThePriceNeverStarts) {
  const Retrieval data;
  PublicFacts facts;
  facts.problem = data.problem();
  facts.single_release_multiplier = kSingle;
  const auto configured = (*find_method("dp-tr-b"))->configure(data.options, facts);
  ASSERT_TRUE(configured) << configured.error().message;
  const FirstStep out = first_step(data, *configured->optimizer);
  EXPECT_EQ(out.result.stopped, StopReason::kBudgetSpent);
  EXPECT_EQ(out.result.w.norm(), 0);
}

/// At a small rate first-order composition asks for so little noise that the filter refuses the
/// first release; the plan must be one that it accepts nearly to its end.
TEST(SmallBatches, AdaptiveNoiseBeginsWhereTheBudgetLastsForTheRun) {
  const testing::FixedGradients engine(std::vector<std::vector<double>>(4000, {0.3, -0.2}));
  PublicProblem problem;
  problem.n = 4000;
  problem.dimension = 2;
  problem.row_norm = 1;
  problem.relation = Relation::kZeroOut;
  for (const double epsilon : {0.5, 3.2, 6.4}) {
    TrainOptions wanted;
    wanted.method = "adp-sgd";
    wanted.options = {{"noise", "adaptive"}, {"expected_batch", "32"}, {"steps", "7000"}};
    wanted.epsilon = epsilon;
    wanted.delta = 1e-5;
    wanted.seed = 1;
    auto prepared = prepare(problem, wanted);
    ASSERT_TRUE(prepared) << prepared.error().message;
    NoObserver observer;
    const auto result = train(engine, problem, wanted, *std::move(prepared), observer);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_GE(result->record.steps, 6000) << epsilon;
    EXPECT_GT(result->record.privacy.epsilon, 0.6 * epsilon);  // not bought by wasting the budget
  }
}

}  // namespace
}  // namespace sotto
