// With noise, the mean over 200 seeds agrees with the closed form on a quadratic, for every private
// method. Least squares without clipping: gradients are linear in w, and noise and Poisson batches
// have the right mean given the past, so the mean of the iterates follows the recursion without
// noise exactly (what each method needs for that stands at its test). The reference recursions are
// written plainly.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sotto/audit/known_price.hpp"
#include "sotto/oracle/private_oracle.hpp"
#include "sotto/privacy/accountant/pld.hpp"
#include "tests/support/small_glm.hpp"

namespace sotto {
namespace {

using testing::SmallGlm;

constexpr int kSeeds = 200;
/// Student's t with 199 degrees of freedom exceeds this in one coordinate with probability 1e-8;
/// all tests here look at fewer than 60 coordinates: together at most 6e-7.
constexpr double kCritical = 6;

/// 2000 records; no gradient comes near the clip radius of 30.
const SmallGlm& quadratic() {
  static const SmallGlm small(LossKind::kSquared, 500);
  return small;
}

/// For one of many runs: a plan is not priced, a filter has more than enough.
Ledger ledger_for(const Plan& plan, Relation relation) {
  static const KnownPrice price(pld_accountant(), 1);
  if (plan.filter.empty())
    return *open_ledger(plan.event, plan.noise_samples, /*delta=*/1e-5, price);
  LedgerOptions granted;
  granted.budget = {30, 0.1};
  granted.relation = relation;
  granted.planned_samples = plan.noise_samples;
  granted.filter = plan.filter;
  auto ledger = Ledger::open(granted);
  EXPECT_TRUE(ledger) << ledger.error().message;
  return *std::move(ledger);
}

/// Runs the method with this seed and returns where it ended.
Vector run(const Engine& engine,
           const PublicFacts& facts,
           const std::string& method,
           const GivenOptions& options,
           double z,
           int seed,
           Observer& observer) {
  const auto configured = (*find_method(method))->configure(options, facts);
  EXPECT_TRUE(configured) << configured.error().message;
  Ledger ledger = ledger_for(configured->optimizer->plan(facts.problem, z), facts.problem.relation);
  PrivateOracle oracle(engine,
                       facts.problem,
                       ledger,
                       Stream::seeded(static_cast<std::uint64_t>(seed), Purpose::kSampling),
                       Stream::seeded(static_cast<std::uint64_t>(seed), Purpose::kNoise));
  const auto result = configured->optimizer->run(oracle, z, observer);
  EXPECT_TRUE(result) << result.error().message;
  return result->w;
}

/// Mean of samples and its standard error, by coordinate.
class Sample {
 public:
  void add(const Vector& x) {
    if (count_ == 0) sum_ = squares_ = Vector::Zero(x.size());
    ++count_;
    sum_ += x;
    squares_ += x.cwiseProduct(x);
  }
  /// Largest distance of the mean from `expected` in standard errors.
  double worst(const Vector& expected) const {
    const Vector mean = sum_ / count_;
    const Vector error = ((squares_ / count_ - mean.cwiseProduct(mean)) / (count_ - 1)).cwiseSqrt();
    return (mean - expected).cwiseQuotient(error).cwiseAbs().maxCoeff();
  }

 private:
  double count_ = 0;
  Vector sum_, squares_;
};

Sample ends(const std::string& method,
            const GivenOptions& options,
            double z,
            Relation relation = Relation::kZeroOut) {
  Sample sample;
  NoObserver observer;
  for (int seed = 0; seed < kSeeds; ++seed)
    sample.add(
        run(quadratic().engine(), quadratic().facts(relation), method, options, z, seed, observer));
  return sample;
}

/// The iterate after `steps` plain steps of length eta(t), t = 1, 2, ….
Vector descent(int steps,
               double momentum,
               const std::function<double(int)>& eta,
               double gradient_factor = 1) {
  Vector w = quadratic().origin(), v = w;
  for (int t = 1; t <= steps; ++t) {
    v = momentum * v + gradient_factor * quadratic().data_gradient(w) +
        quadratic().regularizer_gradient(w);
    w -= eta(t) * v;
  }
  return w;
}

/// Agreement, and the power twin: a method whose gradients are a tenth too large (as after dividing
/// by a wrong batch size) is rejected.
void expect_mean(const Sample& sample, const std::function<Vector(double gradient_factor)>& w) {
  EXPECT_LE(sample.worst(w(1)), kCritical);
  EXPECT_GT(sample.worst(w(1.1)), kCritical);
}

TEST(MeanOver200Seeds, DpGd) {
  for (const Relation relation : {Relation::kZeroOut, Relation::kReplaceOne})
    expect_mean(ends("dp-gd",
                     {{"steps", "8"},
                      {"step_size", "0.2"},
                      {"momentum", "0.5"},
                      {"schedule", "inverse_sqrt"},
                      {"clip_radius", "30"}},
                     1,
                     relation),
                [](double factor) {
                  return descent(
                      8, 0.5, [](int t) { return 0.2 / std::sqrt(t); }, factor);
                });
}

TEST(MeanOver200Seeds, DpSgd) {
  for (const char* sampling : {"poisson", "fixed_size"})
    expect_mean(ends("dp-sgd",
                     {{"steps", "8"},
                      {"step_size", "0.2"},
                      {"momentum", "0.5"},
                      {"schedule", "constant"},
                      {"expected_batch", "1000"},
                      {"sampling", sampling},
                      {"clip_radius", "30"}},
                     0.5),
                [](double factor) {
                  return descent(
                      8, 0.5, [](int) { return 0.2; }, factor);
                });
}

TEST(MeanOver200Seeds, Rrpsgd) {  // given R, whose law adaptive_test.cpp tests
  expect_mean(ends("rrpsgd",
                   {{"steps", "20"},
                    {"drawn_steps", "7"},
                    {"step_size", "0.25"},
                    {"expected_batch", "1000"},
                    {"clip_radius", "30"}},
                   0.5),
              [](double factor) {
                return descent(
                    7, 0, [](int) { return 0.25; }, factor);
              });
}

/// Both points of a pair see the same batch, which keeps the mean linear too.
Vector recursive(int steps, int phase, double mixture, double factor) {
  Vector w = quadratic().origin(), before = w, v = w;
  for (int t = 0; t < steps; ++t) {
    const Vector g = factor * quadratic().data_gradient(w);
    const Vector difference = g - factor * quadratic().data_gradient(before);
    v = t % phase == 0 ? g : Vector(mixture * g + (1 - mixture) * (difference + v));
    before = w;
    w -= 0.2 * (v + quadratic().regularizer_gradient(w));
  }
  return w;
}

TEST(MeanOver200Seeds, DpSrm) {
  for (const char* clipping : {"separate", "together"})
    expect_mean(ends("dp-srm",
                     {{"steps", "8"},
                      {"step_size", "0.2"},
                      {"mixture", "0.3"},
                      {"expected_batch", "1000"},
                      {"anchor_share", "0.5"},
                      {"clipping", clipping},
                      {"sampling", clipping == std::string("separate") ? "fixed_size" : "poisson"},
                      {"difference_bound", "fixed"},
                      {"clip_radius", "30"},
                      {"difference_clip", "30"},
                      {"average", "0"}},
                     0.5),
                [](double factor) { return recursive(8, 8, 0.3, factor); });
}

TEST(MeanOver200Seeds, PrivateSpiderboost) {
  expect_mean(ends("private-spiderboost",
                   {{"steps", "8"},
                    {"step_size", "0.2"},
                    {"phase", "3"},
                    {"expected_batch", "1000"},
                    {"anchor_batch", "2000"},
                    {"anchor_share", "0.5"},
                    {"clip_radius", "30"},
                    {"average", "0"}},
                   0.5),
              [](double factor) { return recursive(8, 3, 0, factor); });
}

TEST(MeanOver200Seeds, AdpSgdPolynomial) {
  for (const char* noise : {"matched", "constant", "adaptive"})
    expect_mean(ends("adp-sgd",
                     {{"steps", "8"},
                      {"step_size", "1"},
                      {"offset", "4"},
                      {"slope", "2"},
                      {"noise", noise},
                      {"first_multiplier", "1"},
                      {"expected_batch", "2000"},
                      {"clip_radius", "30"}},
                     1),
                [](double factor) {
                  return descent(
                      8, 0, [](int t) { return 1 / std::sqrt(4 + 2 * t); }, factor);
                });
}

TEST(MeanOver200Seeds, AdpSgdAdagradWithTheLeastGrowth) {
  // With so small a beta b² grows by nu in every step, and the step is no longer random.
  expect_mean(ends("adp-sgd",
                   {{"steps", "8"},
                    {"step_size", "1"},
                    {"step_rule", "adagrad"},
                    {"offset", "4"},
                    {"beta", "1e-12"},
                    {"nu", "2"},
                    {"expected_batch", "2000"},
                    {"clip_radius", "30"}},
                   1),
              [](double factor) {
                return descent(
                    8, 0, [](int t) { return 1 / std::sqrt(4 + 2 * t); }, factor);
              });
}

/// Remembers the length of the last step and stops at the first that moves.
class FirstMove final : public Observer {
 public:
  bool keep_going(const StepReport& report) override {
    size = report.step_size;
    return size == 0;
  }
  double size = 0;
};

TEST(MeanOver200Seeds, AdpSgdAdagradAddsTheSquaredGradientWithoutTheNoise) {
  // Random steps have no closed form, but b² has one after the first: offset + beta |g|², the
  // noise's own d s² removed. Logistic loss at w = 0 on the rows e_1, …, e_100: g is the vector of
  // -1/200, and a deviation s = |g|/20 makes d s² a quarter of |g|². nu is not used: that would
  // need a |g + noise|² ten deviations below its mean.
  constexpr int d = 100;
  std::vector<float> values(d * d, 0.0F);
  for (std::size_t i = 0; i < d; ++i) values[i * d + i] = 1;
  const Table table = TableBuilder::dense(d, d, values, std::vector<float>(d, 1.0F), {});
  const GlmEngine engine(table, {});
  PublicFacts facts;
  facts.problem.n = facts.problem.dimension = d;
  facts.problem.row_norm = 1;
  facts.problem.linear_rows = true;
  facts.single_release_multiplier = 1;
  const double square = 1.0 / 400;
  const double s = 0.05 / 20;
  // The flat rule has sensitivity 2, the clip radius; the other one 1/2, what slopes at 0 allow.
  for (const auto& [rule, sensitivity] : {std::pair{"flat", 2.0}, {"glm", 0.5}}) {
    Sample growth;
    for (int seed = 0; seed < kSeeds; ++seed) {
      FirstMove first;
      run(engine,
          facts,
          "adp-sgd",
          {{"steps", "1"},
           {"step_size", "1"},
           {"step_rule", "adagrad"},
           {"noise", "constant"},
           {"clip_rule", rule},
           {"offset", "4"},
           {"beta", "5000"},
           {"nu", "1e-9"},
           {"expected_batch", "100"},
           {"clip_radius", "2"}},
          s * d / sensitivity,
          seed,
          first);
      growth.add(Vector::Constant(1, 1 / (first.size * first.size) - 4));
    }
    EXPECT_LE(growth.worst(Vector::Constant(1, 5000 * square)), kCritical) << rule;
    // The power twin: the noise's part left in.
    EXPECT_GT(growth.worst(Vector::Constant(1, 5000 * (square + d * s * s))), kCritical) << rule;
  }
}

TEST(MeanOver200Seeds, DpAgd) {
  // The first move is along G/|G|, G normal with mean g and deviation s. The mean of G/|G| is the
  // gradient of E|G| in g, which in three dimensions is
  //   E|G| / s = sqrt(2/pi) e^(-k²/2) + (k + 1/k) erf(k/sqrt 2),  k = |g|/s.
  // Losses clipped to almost nothing make the choice between 0 and the step a fair coin, so that
  // G is measured again j times with probability 2^-(j+1), and then has deviation s 10^(-j/2)
  // (growth 9); after six null steps the run ends where it began. Later moves have no closed form:
  // they depend on the direction of the first.
  const double alpha = 0.3, C = 3;
  const SmallGlm small(LossKind::kSquared, 50, /*l2=*/0);
  const double s = 1.2;
  const double rho_g = std::pow(C / (200 * s), 2) / 2;
  const Vector g = small.data_gradient(small.origin());
  Sample along;
  for (int seed = 0; seed < kSeeds; ++seed) {
    FirstMove first;
    const Vector w = run(small.engine(),
                         small.facts(),
                         "dp-agd",
                         {{"most_steps", "6"},
                          {"candidates", "2"},
                          {"longest_step", "0.3"},
                          {"splits", "1"},
                          {"selection_share", "0.5"},
                          {"growth", "9"},
                          {"rho", std::to_string(2e6 * rho_g) + "e-6"},
                          {"loss_clip", "1e-9"},
                          {"clip_radius", "3"}},
                         0,
                         seed,
                         first);
    along.add(Vector::Constant(1, w.dot(g.normalized())));
  }
  const auto mean_move = [&](double gain) -> Vector {
    double shrink = 0, deviation = s;
    for (int j = 0; j < 6; ++j, deviation /= std::sqrt(gain)) {
      const double k = g.norm() / deviation;
      shrink += std::pow(0.5, j + 1) * ((1 - 1 / (k * k)) * std::erf(k / std::sqrt(2.0)) +
                                        std::sqrt(2 / M_PI) * std::exp(-k * k / 2) / k);
    }
    return Vector::Constant(1, -alpha * shrink);
  };
  EXPECT_LE(along.worst(mean_move(10)), kCritical);
  EXPECT_GT(along.worst(mean_move(1)), kCritical) << "as if only the first measurement counted";
}

}  // namespace
}  // namespace sotto
