// A canary in the training rows of a network: the real oracle on the real engine keeps its claim,
// and two engines that are broken the way batch-first code is broken are caught.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "sotto/audit/claim.hpp"
#include "sotto/audit/judge.hpp"
#include "sotto/audit/method_audit.hpp"
#include "sotto/objective/network/engine.hpp"
#include "sotto/oracle/per_example_sum.hpp"
#include "sotto/oracle/private_oracle.hpp"
#include "sotto/privacy/accountant/gaussian.hpp"
#include "sotto/privacy/ledger.hpp"
#include "tests/objective/network_reference.hpp"

namespace sotto {
namespace {

constexpr double kEpsilon = 1;
constexpr double kDelta = 1e-5;
constexpr std::int64_t kOthers = 40;
constexpr double kRadius = 0.5;
const PairClip kPairClip{0.05, kRadius, 0.1, false};

/// An engine whose norms are the mean over the block instead of each example's: what comes out when
/// a framework sums the batch before anybody looks at its parts. For pairs: the difference is
/// clipped after averaging.
class MeanNorms final : public Engine {
 public:
  explicit MeanNorms(const Engine& real) : real_(real) {}
  PrivateCount units() const override { return real_.units(); }
  std::int64_t parameters() const override { return real_.parameters(); }
  std::int64_t block_size() const override { return real_.block_size(); }
  std::unique_ptr<Workspace> make_workspace() const override { return real_.make_workspace(); }
  void evaluate_gradients(const Block& block,
                          std::span<const double> w,
                          Workspace& workspace,
                          std::span<double> norms) const override {
    real_.evaluate_gradients(block, w, workspace, norms);
    average(norms.first(static_cast<std::size_t>(block.count)));
  }
  void add_gradients(Workspace& workspace,
                     std::span<const double> weights,
                     std::span<double> sum) const override {
    real_.add_gradients(workspace, weights, sum);
  }
  Capabilities offers() const override { return real_.offers(); }
  void evaluate_gradient_pairs(const Block& block,
                               std::span<const double> w,
                               std::span<const double> before,
                               Workspace& workspace) const override {
    real_.evaluate_gradient_pairs(block, w, before, workspace);
  }
  void pair_norms(Workspace& workspace,
                  double gradient,
                  double difference,
                  std::span<double> norms) const override {
    real_.pair_norms(workspace, gradient, difference, norms);
    if (gradient == 0) average(norms);
  }
  void add_gradient_pairs(Workspace& workspace,
                          std::span<const double> gradient,
                          std::span<const double> difference,
                          std::span<double> sum) const override {
    real_.add_gradient_pairs(workspace, gradient, difference, sum);
  }
  void evaluate_losses(const Block& block,
                       std::span<const double> w,
                       Workspace& workspace,
                       std::span<double> losses) const override {
    real_.evaluate_losses(block, w, workspace, losses);
  }

 private:
  static void average(std::span<double> norms) {
    const double sum = std::accumulate(norms.begin(), norms.end(), 0.0);
    std::fill(norms.begin(), norms.end(), sum / static_cast<double>(norms.size()));
  }
  const Engine& real_;
};

/// Rows of a small network; the last, in world 1 only, is the canary: bright, and mislabelled.
Table rows_of_world(const NetworkSpec& spec, int world) {
  const Table others = testing::random_rows(spec, kOthers, 3);
  std::vector<float> values, labels;
  for (std::int64_t i = 0; i < kOthers; ++i) {
    for (std::int64_t j = 0; j < others.dim(); ++j) values.push_back(0.02F * others.row(i)[j]);
    labels.push_back(others.labels()[static_cast<std::size_t>(i)]);
  }
  if (world == 1) {
    for (std::int64_t j = 0; j < others.dim(); ++j) values.push_back(3 * others.row(0)[j]);
    labels.push_back(3);
  }
  return TableBuilder::dense(
      static_cast<std::int64_t>(labels.size()), others.dim(), values, labels, {});
}

struct TwoWorlds {
  NetworkSpec spec = testing::make_spec(
      {1, 6, 6},
      {"conv 4 3 pad 1", "relu", "maxpool 2", "flatten", "linear 6", "tanh", "linear 4"});
  Table tables[2] = {rows_of_world(spec, 0), rows_of_world(spec, 1)};
  std::unique_ptr<NetworkEngine> engines[2] = {NetworkEngine::make(tables[0], spec).value(),
                                               NetworkEngine::make(tables[1], spec).value()};
  Vector w = initial_weights(spec, 1);
  Vector before = w + 0.3 * initial_weights(spec, 2);
  double noise_multiplier = 1 / gaussian_largest_mu(kEpsilon, kDelta);

  PublicProblem problem() const {
    PublicProblem problem;
    problem.n = kOthers;
    problem.dimension = engines[0]->parameters();
    problem.row_norm = std::numeric_limits<double>::infinity();
    problem.relation = Relation::kAddRemove;
    problem.network = true;
    return problem;
  }

  /// One release with all of the budget.
  Vector release(const Engine& engine, bool pairs, std::uint64_t seed) const {
    LedgerOptions options;
    options.budget.delta = kDelta;  // all of it, and the sampler's hair
    options.plan = Event::gaussian(noise_multiplier, Relation::kAddRemove);
    options.relation = Relation::kAddRemove;
    options.planned_samples = engine.parameters();
    Ledger ledger = Ledger::open(options).value();
    PrivateOracle oracle(engine,
                         problem(),
                         ledger,
                         Stream::seeded(seed, Purpose::kSampling),
                         Stream::seeded(seed, Purpose::kNoise));
    if (pairs)
      return oracle.gradient_pair({w, before, Sampling::full(), kPairClip, noise_multiplier})
          ->value();
    return oracle.gradient({w, Sampling::full(), kRadius, noise_multiplier})->value();
  }

  /// What the canary adds: the attacker knows all rows.
  Vector direction(const Engine& zero, const Engine& one, bool pairs) const {
    Vector sums[2];
    const Engine* engines_[2] = {&zero, &one};
    for (int world = 0; world < 2; ++world) {
      PerExampleSum sum(*engines_[world]);
      if (pairs)
        sum.clipped_gradient_pairs({}, w, before, kPairClip, sums[world]);
      else
        sum.clipped_gradients({}, w, kRadius, sums[world]);
    }
    return (sums[1] - sums[0]).normalized();
  }

  Scores audit(const Engine& zero, const Engine& one, bool pairs, std::int64_t runs = 4000) const {
    const Vector along = direction(zero, one, pairs);
    const Engine* engines_[2] = {&zero, &one};
    Scores scores;
    collect(
        [&](int world, std::int64_t run) {
          const auto seed = 2 * static_cast<std::uint64_t>(run) + static_cast<unsigned>(world);
          return along.dot(release(*engines_[world], pairs, seed));
        },
        runs,
        scores);
    return scores;
  }
};

double lower_bound(const Scores& scores, double confidence) {
  return judge(scores, *gaussian_claim(kEpsilon, kDelta), {confidence, 0.1})->lower_bound;
}

/// Each judgement is wrong with probability 1e-6 at most.
TEST(NetworkAudit, ACanaryFindsNoViolation) {
  const TwoWorlds worlds;
  for (const bool pairs : {false, true}) {
    const Scores scores = worlds.audit(*worlds.engines[0], *worlds.engines[1], pairs, 12'000);
    EXPECT_LE(lower_bound(scores, 1 - 1e-6), kEpsilon) << (pairs ? "pairs" : "gradients");
    EXPECT_GE(lower_bound(scores, 0.95), 0.6) << "the attack has no power";
  }
}

TEST(NetworkAudit, ANormOverTheBatchIsCaught) {
  const TwoWorlds worlds;
  const MeanNorms zero(*worlds.engines[0]), one(*worlds.engines[1]);
  EXPECT_GT(lower_bound(worlds.audit(zero, one, false), 0.99), 1.3 * kEpsilon);
}

TEST(NetworkAudit, ADifferenceClippedAfterAveragingIsCaught) {
  const TwoWorlds worlds;
  const MeanNorms zero(*worlds.engines[0]), one(*worlds.engines[1]);
  EXPECT_GT(lower_bound(worlds.audit(zero, one, true), 0.99), 1.3 * kEpsilon);
}

/// Whole runs by the real optimizer, as `sotto audit --model` makes them. Each judgement is wrong
/// with probability 1e-6 at most.
TEST(NetworkAudit, MethodsKeepTheirClaimAndTheAttackHasPower) {
  struct Case {
    const char* method;
    GivenOptions options;
    double least;  ///< sampled batches hide more of what so few runs can show
    Relation relation = Relation::kZeroOut;
  };
  const TwoWorlds here;
  for (const Case& each : {Case{"dp-gd", {}, 1.2},
                           Case{"dp-sgd", {}, 0.4},
                           Case{"dp-sgd", {{"clip_rule", "layers"}}, 0.4},
                           Case{"dp-srm", {}, 0.4},
                           Case{"dp-gd", {}, 1.2, Relation::kAddRemove},
                           Case{"dp-gd", {}, 0.4, Relation::kReplaceOne}}) {
    MethodAuditOptions asked;
    asked.method = each.method;
    asked.options = each.options;
    asked.relation = each.relation;
    asked.epsilon = 2;
    asked.network =
        std::make_shared<const AuditedNetwork>(AuditedNetwork{"small", here.spec, here.w});
    const auto audit = MethodAudit::prepare(asked);
    ASSERT_TRUE(audit) << audit.error().message;
    Scores scores;
    collect(audit->trial(), 1000, scores);
    EXPECT_LE(judge(scores, audit->claim(), {1 - 1e-6, 0.1})->lower_bound, 2) << each.method;
    EXPECT_GE(judge(scores, audit->claim(), {0.95, 0.1})->lower_bound, each.least) << each.method;
  }
}

/// Epsilon 4's noise, with a claim of 1.
TEST(NetworkAudit, AMethodWithTooLittleNoiseIsCaught) {
  const TwoWorlds here;
  MethodAuditOptions asked;
  asked.method = "dp-gd";
  asked.epsilon = 4;
  asked.network =
      std::make_shared<const AuditedNetwork>(AuditedNetwork{"small", here.spec, here.w});
  const auto audit = MethodAudit::prepare(asked);
  ASSERT_TRUE(audit) << audit.error().message;
  Scores scores;
  collect(audit->trial(), 1000, scores);
  EXPECT_GT(judge(scores, *gaussian_claim(1, kDelta), {0.99, 0.1})->lower_bound, 1.3);
}

TEST(NetworkAudit, Mistakes) {
  const TwoWorlds here;
  MethodAuditOptions asked;
  asked.network =
      std::make_shared<const AuditedNetwork>(AuditedNetwork{"small", here.spec, here.w});
  asked.canary = Canary::kSpread;
  EXPECT_FALSE(MethodAudit::prepare(asked)) << "no vertices";
  asked.canary = Canary::kDirection;
  for (const char* method : {"dp-tr", "opt", "2opt-ls", "dp-gd-sosp", "dp-newton"}) {
    asked.method = method;
    EXPECT_FALSE(MethodAudit::prepare(asked)) << method << ": a network has no Hessians";
  }
}

}  // namespace
}  // namespace sotto
