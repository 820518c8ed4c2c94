// Scores to which something public is added: what one unit moves them by, after rounding, stays
// within the claim, however large the public part is.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "sotto/data/table.hpp"
#include "sotto/mechanism/release_tap.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/oracle/private_oracle.hpp"
#include "tests/support/funds.hpp"

namespace sotto {
namespace {

/// The sealed values of a run, with their claims.
class Ear final : public ReleaseTap {
 public:
  Ear() { listen_to_releases(this); }
  ~Ear() override { listen_to_releases(nullptr); }
  void opened(const std::type_info& type, void* value, const SensitivityClaim& claim) override {
    if (type == typeid(Vector))
      heard = *static_cast<Vector*>(value);
    else
      heard = Vector::Constant(1, *static_cast<double*>(value));
    claimed = claim.sensitivity();
  }
  void grid(double, double, double, double) override {}
  void released(const std::type_info&, void*, const Event&) override {}

  Vector heard;
  double claimed = 0;
};

/// n rows, the last of which has this first feature.
Table rows(int n, float last) {
  std::vector<float> values, labels(static_cast<std::size_t>(n), 1.0F);
  for (int i = 0; i < n; ++i) {
    values.push_back(i + 1 == n ? last : 0.5F + 0.001F * static_cast<float>(i) / 1000.0F);
    values.push_back(0.25F);
  }
  return TableBuilder::dense(n, 2, values, labels, {});
}

/// What `ask` seals in both of two neighbouring worlds of n rows: the largest motion of a score,
/// and the claim.
template <class Ask>
std::pair<double, double> motion(int n, const Event& event, const Ask& ask) {
  Vector heard[2];
  double claimed[2] = {};
  for (const int world : {0, 1}) {
    const Table table = rows(n, world == 0 ? -40.0F : 40.0F);
    const GlmEngine engine(table, {});
    PublicProblem problem;
    problem.n = n;
    problem.dimension = 2;
    problem.row_norm = std::numeric_limits<double>::infinity();
    problem.relation = Relation::kReplaceOne;
    Ledger ledger = testing::ledger_for(event, 1000);
    PrivateOracle oracle(engine,
                         problem,
                         ledger,
                         Stream::seeded(1, Purpose::kSampling),
                         Stream::seeded(2, Purpose::kNoise));
    const Ear ear;
    ask(oracle);
    heard[world] = ear.heard;
    claimed[world] = ear.claimed;
  }
  EXPECT_EQ(claimed[0], claimed[1]);
  return {(heard[0] - heard[1]).lpNorm<Eigen::Infinity>(), claimed[0]};
}

TEST(PublicParts, ASelectionsScoresMoveWithinTheClaim) {
  const Event event = Event::exponential(1, Relation::kReplaceOne);
  double widest = 0;
  for (const double part : {0.0, 1e9, 1e13, 1e14, 1e15})
    for (int k = 0; k < 10; ++k) {
      Vector w(2);
      w << 0.1 + 0.013 * k, 0.2;
      const std::vector<Vector> candidates = {w, Vector::Zero(2)};
      const std::vector<double> added = {part * (1 + 0.01 * k), part};
      const auto [moved, claimed] = motion(1000, event, [&](PrivateOracle& oracle) {
        ASSERT_TRUE(oracle.select({candidates, 1, 1, added}));
      });
      EXPECT_LE(moved, claimed) << part;
      widest = std::max(widest, moved);
    }
  EXPECT_GT(widest, 1.5) << "rounding is not what this test sees";
}

TEST(PublicParts, AShortStepsChangesMoveWithinTheClaim) {
  const Event event = Event::exponential(1, Relation::kReplaceOne);
  for (const double step : {1e-3, 1e-8, 1e-10, 1e-12}) {
    Vector w(2), direction(2);
    w << 0.1, 0.2;
    direction << 1, 0;
    const std::vector<Vector> candidates = {w + step * direction, w + 0.5 * step * direction};
    const std::vector<double> added = {10 + step * 0.01, 10 + step * 0.005};
    const auto [moved, claimed] = motion(100'000, event, [&](PrivateOracle& oracle) {
      ASSERT_TRUE(oracle.select({candidates, step, 1, added, ClipRule::kFlat, &w}));
    });
    EXPECT_LE(moved, claimed) << step;
    // What is common to all candidates costs nothing.
    EXPECT_LT(claimed, 2.1 * step) << step;
  }
}

TEST(PublicParts, ANeededDecreaseMovesWithinTheClaim) {
  const Event event = Event::sparse_vector(1, Relation::kReplaceOne);
  for (const double needed : {0.0, 1e9, 1e13, 1e15})
    for (int k = 0; k < 10; ++k) {
      Vector w(2), there(2);
      w << 0.1 + 0.013 * k, 0.2;
      there << 1.1 + 0.013 * k, 0.2;
      const std::vector<Vector> candidates = {there};
      const std::vector<double> asked = {needed * (1 + 0.013 * k)};
      const auto [moved, claimed] = motion(1000, event, [&](PrivateOracle& oracle) {
        ASSERT_TRUE(oracle.first_decrease({w, candidates, asked, 1, 1}));
      });
      EXPECT_LE(moved, claimed) << needed;
    }
}

}  // namespace
}  // namespace sotto
