// Certificates of whole runs: how often the truth lies within their bounds, and where none is
// given.

#include <gtest/gtest.h>

#include "sotto/data/table.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/optimizer/registry.hpp"
#include "sotto/optimizer/second_order/scout.hpp"
#include "sotto/oracle/exact_oracle.hpp"
#include "sotto/oracle/private_oracle.hpp"
#include "tests/support/funds.hpp"

namespace sotto {
namespace {

using testing::Funds;
using testing::kSingle;

/// Rows on which the certificate's runs are made: 300 rows of norm 1 in four dimensions.
struct Certified {
  std::vector<float> rows, labels;
  static constexpr int kRows = 300, kDim = 4;
  Certified() {
    Stream random = Stream::seeded(9, Purpose::kData);
    for (int i = 0; i < kRows; ++i) {
      Vector x(kDim);
      for (double& v : x) v = 2 * random.uniform() - 1;
      const double label = x[0] + 0.5 * (2 * random.uniform() - 1) > 0 ? 1 : -1;
      x *= 0.9999 / x.norm();
      for (const double v : x) rows.push_back(static_cast<float>(v));
      labels.push_back(static_cast<float>(label));
    }
  }
  PublicFacts facts() const {
    PublicFacts facts;
    facts.problem.n = kRows;
    facts.problem.dimension = kDim;
    facts.problem.row_norm = 1;
    facts.problem.linear_rows = true;
    facts.problem.regularizer = Regularizer(RegularizerKind::kNonconvex, 0.05);
    facts.single_release_multiplier = kSingle;
    return facts;
  }
};

// The truth lies within the certificate's bounds in at least 95 % of 2,000 runs; 160 misses or more
// have probability below 1e-7 (binomial). The twin, bounds without their margins, misses far more.
TEST(CertificateCoverage, TheTruthIsInsideAtTheStatedRate) {
  const Certified data;
  const Table table =
      TableBuilder::dense(Certified::kRows, Certified::kDim, data.rows, data.labels, {});
  const GlmEngine engine(table, {});
  const PublicFacts facts = data.facts();
  const auto configured = (*find_method("opt"))
                              ->configure({{"gradient_tolerance", "0.2"},
                                           {"curvature_tolerance", "0.2"},
                                           {"curvature_floor", "off"},
                                           {"certificate_share", "0.5"},
                                           {"steps", "2"}},
                                          facts);
  ASSERT_TRUE(configured) << configured.error().message;
  ExactOracle exact(engine, facts.problem, Stream::seeded(1, Purpose::kSampling));
  int misses = 0, twin = 0;
  for (std::uint64_t run = 0; run < 2000; ++run) {
    Funds funds("gaussian");
    ASSERT_TRUE(funds.ledger);
    PrivateOracle oracle(engine,
                         facts.problem,
                         *funds.ledger,
                         Stream::seeded(1, Purpose::kSampling, run),
                         Stream::seeded(2, Purpose::kNoise, run));
    NoObserver observer;
    const auto result = configured->optimizer->run(oracle, 1, observer);
    ASSERT_TRUE(result) << result.error().message;
    ASSERT_TRUE(result->certificate);
    const Certificate& c = *result->certificate;
    ASSERT_NE(c.verdict, Certificate::Verdict::kRefused) << c.reason;
    Vector g = exact.gradient({result->w, Sampling::full(), 1, 1})->value();
    facts.problem.regularizer.add_gradient(result->w, g);
    Matrix H = exact.hessian({result->w, Sampling::full(), 1, 1})->value().value;
    Vector diagonal = H.diagonal();
    facts.problem.regularizer.add_hessian_diagonal(result->w, diagonal);
    H.diagonal() = diagonal;
    const double lowest = symmetric_eigen(H).values[0];
    misses += g.norm() > c.gradient_upper || lowest < c.curvature_lower;
    twin += g.norm() > norm_estimate(c.gradient_norm, c.gradient_floor / 3, Certified::kDim);
  }
  EXPECT_LT(misses, 160);
  EXPECT_GT(twin, 160);
}

TEST(Certificates, AreRefusedWhereClippingMayBeActive) {
  const Certified data;
  const Table table =
      TableBuilder::dense(Certified::kRows, Certified::kDim, data.rows, data.labels, {});
  const GlmEngine engine(table, {});
  const auto verdict = [&](bool bounded, const GivenOptions& options) {
    PublicFacts facts = data.facts();
    facts.problem.linear_rows = bounded;
    const auto configured = (*find_method("dp-tr"))->configure(options, facts);
    EXPECT_TRUE(configured) << configured.error().message;
    Funds funds("gaussian");
    PrivateOracle oracle(engine,
                         facts.problem,
                         *funds.ledger,
                         Stream::seeded(1, Purpose::kSampling),
                         Stream::seeded(2, Purpose::kNoise));
    NoObserver observer;
    const auto result = configured->optimizer->run(oracle, 1, observer);
    EXPECT_TRUE(result);
    return result->certificate ? std::string(to_string(result->certificate->verdict)) : "none";
  };
  const GivenOptions loose = {{"gradient_tolerance", "0.3"}, {"steps", "5"}};
  GivenOptions clipped = loose, none = loose, fine = loose;
  clipped.emplace_back("clip_radius", "0.3");
  none.emplace_back("certificate_share", "0");
  fine[0].second = "0.001";
  EXPECT_EQ(verdict(true, loose), "certified");
  EXPECT_EQ(verdict(true, clipped), "refused");
  EXPECT_EQ(verdict(false, loose), "refused");
  EXPECT_EQ(verdict(true, none), "none");
  EXPECT_EQ(verdict(true, fine), "below the noise floor");
}

}  // namespace
}  // namespace sotto
