// How often the truth lies within a certificate's bounds: 100 runs for every method that ends with
// a certificate of a second-order point, with a Hessian and where algebra settles the curvature.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sotto/geometry/curvature.hpp"
#include "sotto/geometry/stationarity.hpp"
#include "sotto/geometry/trust_region.hpp"
#include "sotto/oracle/exact_oracle.hpp"
#include "sotto/oracle/private_oracle.hpp"
#include "sotto/privacy/calibrate.hpp"
#include "tests/support/plain_rows.hpp"
#include "tests/support/statistics.hpp"

namespace sotto {
namespace {

using testing::PlainRows;

constexpr int kRuns = 100;
constexpr double kConfidence = 0.95;
constexpr Target kBudget{8, 1e-5};
constexpr const char* kOwnClip = "0.02";  ///< far below the losses' bounds

struct Cell {
  std::string method;
  bool by_algebra = false;
  Relation relation = Relation::kReplaceOne;
  bool batches = false;
};

std::vector<Cell> all_cells() {
  std::vector<Cell> cells;
  for (const bool by_algebra : {false, true}) {
    for (const char* method : {"dp-tr", "opt", "opt-ls", "2opt", "2opt-ls", "dp-gd-sosp"})
      cells.push_back({method, by_algebra});
    for (const char* method : {"dp-tr-b", "dp-str", "opt-b", "2opt-b"})
      cells.push_back({method, by_algebra, Relation::kReplaceOne, true});
  }
  cells.push_back({"dp-tr", false, Relation::kZeroOut});
  cells.push_back({"opt", false, Relation::kAddRemove});
  return cells;
}

struct Runs {
  int covered = 0;        ///< both bounds hold
  int twin_gradient = 0;  ///< the bound on the gradient, made with the method's own clip radius
  int twin_curvature = 0;
};

Runs runs_of(const Cell& cell, std::uint64_t seed) {
  const PlainRows rows({cell.by_algebra ? LossKind::kLogistic : LossKind::kSigmoid},
                       RegularizerKind::kNonconvex,
                       0.01);
  PublicFacts facts = rows.facts(cell.relation);
  const auto single =
      calibrate_noise([&](double z) { return Event::gaussian(z, cell.relation); }, kBudget);
  EXPECT_TRUE(single);
  facts.single_release_multiplier = *single;
  GivenOptions given = {{"gradient_tolerance", "0.2"},
                        {"curvature_tolerance", "0.2"},
                        {"curvature_floor", cell.by_algebra ? "on" : "off"},
                        {"certificate_share", "0.5"},
                        {"steps", "2"}};
  if (cell.batches) given.emplace_back("expected_batch", "50");
  GivenOptions clipped = given;
  clipped.emplace_back("clip_radius", kOwnClip);
  clipped.emplace_back("hessian_clip", kOwnClip);
  // Not from 0, where the sigmoid loss has no curvature that clipping could hide: clipped gradients
  // hardly lead away from there.
  clipped.emplace_back("init", "normal");

  const auto open = [&](const std::string& filter) {
    LedgerOptions granted;
    granted.budget = {kBudget.epsilon, kBudget.delta};
    granted.filter = filter;
    granted.relation = cell.relation;
    granted.planned_samples = 1'000'000;
    return Ledger::open(granted);
  };
  Runs runs;
  for (const bool twin : {false, true}) {
    const auto configured = (*find_method(cell.method))->configure(twin ? clipped : given, facts);
    EXPECT_TRUE(configured) << configured.error().message;
    if (!configured) return {};
    const std::string filter = configured->optimizer->plan(facts.problem, 1).filter;
    for (std::uint64_t run = 0; run < kRuns; ++run) {
      auto ledger = open(filter);
      EXPECT_TRUE(ledger);
      PrivateOracle oracle(rows.engine(),
                           facts.problem,
                           *ledger,
                           Stream::seeded(seed, Purpose::kSampling, run),
                           Stream::seeded(seed, Purpose::kNoise, run));
      NoObserver observer;
      const auto result = configured->optimizer->run(oracle, 1, observer);
      EXPECT_TRUE(result && result->certificate);
      if (!result || !result->certificate) return {};
      const Vector& w = result->w;
      const Certificate& c = *result->certificate;
      const double gradient = rows.gradient(w).norm();
      const double lowest = testing::smallest_eigenvalue(rows.hessian(w));
      EXPECT_EQ(c.verdict == Certificate::Verdict::kRefused, twin) << c.reason;
      if (!twin) {
        EXPECT_EQ(c.curvature_by_algebra, cell.by_algebra);
        runs.covered += gradient <= c.gradient_upper && lowest >= c.curvature_lower;
        continue;
      }
      // What would have been said had it not been refused.
      auto more = open("gaussian");
      PrivateOracle other(rows.engine(),
                          facts.problem,
                          *more,
                          Stream::seeded(seed, Purpose::kSampling, run),
                          Stream::seeded(seed + 1000, Purpose::kNoise, run));
      const double clip = std::stod(kOwnClip);
      const GradientQuery query{w, Sampling::full(), clip, 2 * *single};
      const auto g = other.gradient(query);
      const auto H = other.hessian({w, Sampling::full(), clip, 2 * *single});
      EXPECT_TRUE(g && H);
      if (!g || !H) return {};
      Vector sum = g->value();
      facts.problem.regularizer.add_gradient(w, sum);
      Matrix curvature = H->value().value;
      Vector diagonal = curvature.diagonal();
      facts.problem.regularizer.add_hessian_diagonal(w, diagonal);
      curvature.diagonal() = diagonal;
      const double miss = (1 - kConfidence) / 2;
      runs.twin_gradient +=
          gradient <=
          norm_upper_bound(sum.norm(), other.gradient_sigma(query), PlainRows::kDim, miss);
      runs.twin_curvature +=
          lowest >= symmetric_eigen(curvature).values[0] -
                        symmetric_noise_bound(H->value().sigma, PlainRows::kDim, miss);
    }
  }
  return runs;
}

class SecondOrderCoverage : public ::testing::TestWithParam<std::size_t> {};

/// All cells together raise a false alarm with probability 1e-6 at most.
bool is_plausible(int covered, std::size_t cells) {
  return testing::probability_upper(
             covered, kRuns, testing::kFalseAlarm / static_cast<double>(cells)) >= kConfidence;
}

TEST_P(SecondOrderCoverage, TheTruthIsInsideAtTheStatedRate) {
  const std::vector<Cell> cells = all_cells();
  const Cell& cell = cells[GetParam()];
  const Runs runs = runs_of(cell, GetParam());
  RecordProperty("covered", runs.covered);
  RecordProperty("twin_gradient", runs.twin_gradient);
  RecordProperty("twin_curvature", runs.twin_curvature);
  EXPECT_TRUE(is_plausible(runs.covered, cells.size())) << runs.covered;
  EXPECT_FALSE(is_plausible(runs.twin_gradient, cells.size()))
      << "a bound on clipped gradients passes for one on the true gradient: " << runs.twin_gradient;
  if (!cell.by_algebra) {  // the logistic loss is convex: clipping its Hessians hides nothing bent
    EXPECT_FALSE(is_plausible(runs.twin_curvature, cells.size()))
        << "a bound on clipped Hessians passes for one on the true Hessian: "
        << runs.twin_curvature;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryMethod,
                         SecondOrderCoverage,
                         ::testing::Range<std::size_t>(0, all_cells().size()),
                         [](const auto& test) {
                           const Cell cell = all_cells()[test.param];
                           std::string name = cell.method +
                                              (cell.by_algebra ? "_by_algebra_" : "_hessian_") +
                                              std::to_string(test.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// Four times the declared units under add-remove: what holds of a mean does not hold of their sum.
TEST(SecondOrderCoverage, MoreUnitsThanDeclaredBendMore) {
  const PlainRows rows({LossKind::kSigmoid}, RegularizerKind::kNonconvex, 0.01);
  for (const Relation relation : {Relation::kReplaceOne, Relation::kAddRemove}) {
    const bool open = relation == Relation::kAddRemove;
    PublicFacts facts = rows.facts(relation);
    if (open) facts.problem.n = PlainRows::kRows / 4;
    facts.single_release_multiplier = 1;
    // So large, and so little confidence, that fewer products than dimensions are thought enough.
    const double floor = curvature_floor(facts.problem.loss,
                                         facts.problem.row_norm,
                                         facts.problem.regularizer,
                                         facts.problem.dimension);
    const GivenOptions given = {{"gradient_tolerance", "0.2"},
                                {"curvature_tolerance", std::to_string(-100 * floor)},
                                {"stop_confidence", "0.1"},
                                {"steps", "1"}};
    for (const char* solver : {"dense", "lanczos"}) {
      GivenOptions options = given;
      options.emplace_back("solver", solver);
      const auto configured = (*find_method("opt"))->configure(options, facts);
      ASSERT_TRUE(configured) << configured.error().message;
      EXPECT_EQ(configured->settings.back().value.find("by algebra") == std::string::npos, open);
      ExactOracle oracle(rows.engine(), facts.problem, Stream::seeded(1, Purpose::kSampling));
      NoObserver observer;
      const auto result = configured->optimizer->run(oracle, 1, observer);
      ASSERT_TRUE(result && result->certificate);
      const Certificate& c = *result->certificate;
      EXPECT_EQ(c.curvature_by_algebra, !open);
      const bool refused = open && std::string(solver) == "lanczos";
      EXPECT_EQ(c.verdict == Certificate::Verdict::kRefused, refused) << c.reason;
      if (refused) continue;
      Vector once = Vector::Zero(PlainRows::kDim);
      facts.problem.regularizer.add_hessian_diagonal(result->w, once);
      Matrix sum = rows.hessian(result->w);
      if (open) {
        sum *= 4;
        sum.diagonal() -= 3 * once;
      }
      EXPECT_GE(testing::smallest_eigenvalue(sum), c.curvature_lower - 1e-9);
    }
  }
}

}  // namespace
}  // namespace sotto
