// How often the true Frank-Wolfe gap lies in the certified interval: 100 runs for every method that
// gives one, on every kind of set that it takes, at the methods' default clip radii.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <limits>

#include "sotto/oracle/private_oracle.hpp"
#include "tests/support/plain_rows.hpp"
#include "tests/support/statistics.hpp"

namespace sotto {
namespace {

using testing::PlainRows;

constexpr int kRuns = 100;
constexpr int kSteps = 6;
constexpr double kMultiplier = 0.1;
constexpr double kShare = 0.5;
constexpr double kConfidence = 0.95;

Matrix vertices() {
  Matrix list(7, PlainRows::kDim);
  list << 4, 0, 0, 0, 0, -1, -4, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0, -4, 0, 0, 0, 0, 0, 4, -2, -2, -2,
      -2, -2, 1, 0, -1, 2, -4;
  return list;
}

ConstraintPtr set_named(const std::string& name) {
  return name == "polytope" ? polytope(vertices()) : *parse_constraint(name);
}

/// max <w - v, g> over the set, by each set's own formula.
double true_gap(const std::string& set, const Vector& w, const Vector& g) {
  double least = std::numeric_limits<double>::infinity();  // of <v, g>
  if (set == "l2:3") least = -3 * g.norm();
  if (set == "l1:6") least = -6 * g.cwiseAbs().maxCoeff();
  if (set == "simplex:5") least = 5 * g.minCoeff();
  if (set == "box:-1,2") {
    least = 0;
    for (const double each : g) least += each > 0 ? -each : 2 * each;
  }
  if (set == "group-l1:5,2")
    least = -5 * std::max({g.segment(0, 2).norm(), g.segment(2, 2).norm(), std::abs(g[4])});
  if (set == "polytope")
    for (Eigen::Index k = 0; k < vertices().rows(); ++k)
      least = std::min(least, g.dot(Vector(vertices().row(k))));
  return w.dot(g) - least;
}

struct Cell {
  std::string method;
  std::string set;
  GivenOptions options = {};
  LossSpec loss = {};
  Relation relation = Relation::kReplaceOne;
  /// The method's own clip radius cuts gradients off.
  bool clips = true;
};

std::vector<Cell> all_cells() {
  const std::vector<std::string> every = {
      "l2:3", "l1:6", "simplex:5", "box:-1,2", "group-l1:5,2", "polytope"};
  std::vector<Cell> cells;
  for (const std::string& set : every) {
    cells.push_back({"dp-pgd", set});
    cells.push_back({"dp-pmd", set});
    cells.push_back({"dp-fw-l2", set});
    cells.push_back({"dp-fw-l1", set, {{"selection", "gaussian"}}});
  }
  cells.push_back({"dp-pmd", "l1:6", {{"mirror", "entropy"}}});
  cells.push_back({"dp-pmd", "simplex:5", {{"mirror", "euclidean"}}});
  for (const char* set : {"l1:6", "simplex:5", "polytope"})
    for (const char* rule : {"exponential", "noisy_max"})
      cells.push_back({"dp-fw-l1", set, {{"selection", rule}}});
  for (const Relation relation : {Relation::kZeroOut, Relation::kAddRemove}) {
    cells.push_back({"dp-fw-l1", "l1:6", {{"selection", "exponential"}}, {}, relation});
    cells.push_back({"dp-pgd", "l2:3", {}, {}, relation});
  }
  for (const char* output : {"average", "random", "best"})
    cells.push_back({"dp-pgd", "l1:6", {{"output", output}}});
  // Other losses. The default radius clips Huber's slopes, and no row of the others here.
  cells.push_back({"dp-fw-l2", "l1:6", {}, {LossKind::kHuber, 4}});
  for (const LossSpec& loss : {LossSpec{LossKind::kSigmoid}, LossSpec{LossKind::kPhaseRetrieval}})
    cells.push_back({"dp-fw-l2", "l1:6", {}, loss, Relation::kReplaceOne, false});
  LossSpec weighted{LossKind::kLogistic};
  weighted.weights = {0.5, 3};
  for (const LossSpec& loss : {weighted, LossSpec{LossKind::kPoisson, 2}})
    cells.push_back({"dp-fw-l2", "l1:6", {}, loss, Relation::kReplaceOne, false});
  return cells;
}

std::string setting(const ConfiguredMethod& method, const std::string& name) {
  for (const auto& each : method.settings)
    if (each.name == name) return each.value;
  return "";
}

struct Coverage {
  int certified = 0;
  int twin = 0;
};

/// Runs the cell. The twin is the gap of gradients that are clipped as the method's own steps clip
/// them, with the same multiplier and the same kind of interval.
Coverage coverage_of(const Cell& cell, std::uint64_t seed) {
  const PlainRows rows(cell.loss);
  PublicFacts facts = rows.facts(cell.relation);
  facts.problem.constraint = set_named(cell.set);
  facts.single_release_multiplier = 2;
  GivenOptions given = cell.options;
  given.emplace_back("steps", std::to_string(kSteps));
  given.emplace_back("certificate_share", "0.5");
  if (cell.method.starts_with("dp-p")) given.emplace_back("step_size", "4");
  const auto configured = (*find_method(cell.method))->configure(given, facts);
  EXPECT_TRUE(configured) << configured.error().message;
  if (!configured) return {};
  const Plan plan = configured->optimizer->plan(facts.problem, kMultiplier);
  const std::string selection = setting(*configured, "selection");
  const bool in_max_norm = selection == "exponential" || selection == "noisy_max";
  const double own_clip = std::stod(setting(*configured, in_max_norm ? "clip_max" : "clip_radius"));
  const std::string drawn = setting(*configured, "drawn_steps");
  const double steps = drawn.empty() || drawn == "none" ? kSteps : std::stod(drawn);
  const double multiplier = kMultiplier / std::sqrt(steps) * std::sqrt((1 - kShare) / kShare);
  const double quantile = boost::math::quantile(boost::math::normal(), (1 + kConfidence) / 2);

  Coverage coverage;
  for (std::uint64_t run = 0; run < kRuns; ++run) {
    const auto open = [&](const Event& event, std::int64_t samples) {
      LedgerOptions granted;
      granted.budget = {std::numeric_limits<double>::infinity(), 1e-6};
      granted.plan = event;
      granted.relation = cell.relation;
      granted.planned_samples = samples;
      return Ledger::open(granted);
    };
    auto ledger = open(plan.event, plan.noise_samples);
    PrivateOracle oracle(rows.engine(),
                         facts.problem,
                         *ledger,
                         Stream::seeded(seed, Purpose::kSampling, run),
                         Stream::seeded(seed, Purpose::kNoise, run));
    NoObserver observer;
    const auto result = configured->optimizer->run(oracle, kMultiplier, observer);
    EXPECT_TRUE(result && result->gap) << (result ? "" : result.error().message);
    if (!result || !result->gap) return {};
    const double truth = true_gap(cell.set, result->w, rows.gradient(result->w));
    coverage.certified += std::abs(result->gap->gap - truth) <= result->gap->half_width;
    EXPECT_EQ(result->gap->confidence, kConfidence);
    EXPECT_FALSE(oracle.gap({result->w, *facts.problem.constraint, true, 1, multiplier}))
        << "the plan has one certificate, and it is paid for";

    auto other = open(Event::gaussian(multiplier, cell.relation), 1);
    PrivateOracle clipped(rows.engine(),
                          facts.problem,
                          *other,
                          Stream::seeded(seed, Purpose::kSampling, run),
                          Stream::seeded(seed + 1000, Purpose::kNoise, run));
    Vector smooth = Vector::Zero(PlainRows::kDim);
    facts.problem.regularizer.add_gradient(result->w, smooth);
    const auto twin = clipped.gap(
        {result->w, *facts.problem.constraint, in_max_norm, own_clip, multiplier, &smooth});
    EXPECT_TRUE(twin);
    if (!twin) return {};
    coverage.twin += std::abs(twin->value().value - truth) <= quantile * twin->value().deviation;
  }
  return coverage;
}

class GapCoverage : public ::testing::TestWithParam<std::size_t> {};

/// All cells together raise a false alarm with probability 1e-6 at most.
bool is_plausible(int covered, std::size_t cells) {
  return testing::probability_upper(
             covered, kRuns, testing::kFalseAlarm / static_cast<double>(cells)) >= kConfidence;
}

TEST_P(GapCoverage, TheTrueGapIsInsideAtTheStatedRate) {
  const std::vector<Cell> cells = all_cells();
  const Cell& cell = cells[GetParam()];
  const Coverage coverage = coverage_of(cell, GetParam());
  RecordProperty("covered", coverage.certified);
  RecordProperty("twin", coverage.twin);
  EXPECT_TRUE(is_plausible(coverage.certified, cells.size())) << coverage.certified;
  if (cell.clips) {
    EXPECT_FALSE(is_plausible(coverage.twin, cells.size()))
        << "the gap of gradients clipped to the method's own radius passes for the true one: "
        << coverage.twin;
  }
}

std::string cell_name(const ::testing::TestParamInfo<std::size_t>& test) {
  const Cell cell = all_cells()[test.param];
  std::string name = cell.method + "_" + cell.set.substr(0, cell.set.find(':'));
  for (const auto& option : cell.options) name += "_" + option.second;
  name += "_" + std::to_string(test.param);
  std::erase_if(name, [](char c) { return c == '-'; });
  return name;
}

INSTANTIATE_TEST_SUITE_P(EveryMethodAndSet,
                         GapCoverage,
                         ::testing::Range<std::size_t>(0, all_cells().size()),
                         cell_name);

// Noise is added to the gap itself, so that the interval is exact on every set: over all cells it
// is as often wrong as it says, not less often.
TEST(GapCoverage, TheWidthIsExact) {
  const std::vector<Cell> cells = all_cells();
  std::int64_t covered = 0;
  for (std::size_t k = 0; k < cells.size(); ++k)
    covered += coverage_of(cells[k], 100 + k).certified;
  EXPECT_TRUE(
      testing::plausible(covered, kRuns * static_cast<std::int64_t>(cells.size()), kConfidence))
      << covered;
}

}  // namespace
}  // namespace sotto
