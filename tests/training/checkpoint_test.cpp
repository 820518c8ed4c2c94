// Checkpoints: a seeded run that is interrupted and continued ends with the same model and ledger.
// Without a seed: resume_test.cpp. Files that don't fit: checkpoint_file_test.cpp.

#include "sotto/training/checkpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <ostream>
#include <random>
#include <set>
#include <thread>

#include "sotto/core/file.hpp"
#include "sotto/geometry/vertex_path.hpp"
#include "sotto/objective/network/engine.hpp"
#include "sotto/optimizer/parts/steps.hpp"
#include "sotto/training/train.hpp"
#include "tests/objective/network_reference.hpp"
#include "tests/support/checkpoint_trial.hpp"
#include "tests/support/temp_dir.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::kNever;
using testing::TempDir;
using testing::Trial;
using testing::Watch;

void expect_same(const TrainResult& a, const TrainResult& b, const std::string& what) {
  ASSERT_EQ(a.w.size(), b.w.size()) << what;
  EXPECT_EQ(a.w, b.w) << what << ": not the same to the last bit";
  EXPECT_EQ(a.record.steps, b.record.steps) << what;
  EXPECT_EQ(a.record.stopped, b.record.stopped) << what;
  EXPECT_EQ(a.record.privacy.events, b.record.privacy.events) << what;
  EXPECT_EQ(a.record.privacy.epsilon, b.record.privacy.epsilon) << what;
  EXPECT_EQ(a.record.privacy.noise_samples, b.record.privacy.noise_samples) << what;
  EXPECT_EQ(a.record.plan, b.record.plan) << what;
  EXPECT_EQ(a.record.passes, b.record.passes) << what;
  EXPECT_EQ(a.record.gradient_evaluations, b.record.gradient_evaluations) << what;
  ASSERT_EQ(a.record.drawn.size(), b.record.drawn.size()) << what;
  for (std::size_t k = 0; k < a.record.drawn.size(); ++k)
    EXPECT_EQ(a.record.drawn[k].count, b.record.drawn[k].count) << what;
  ASSERT_EQ(a.record.trace.size(), b.record.trace.size()) << what;
  for (std::size_t k = 0; k < a.record.trace.size(); ++k) {
    EXPECT_EQ(a.record.trace[k].step, b.record.trace[k].step) << what;
    EXPECT_EQ(a.record.trace[k].gradient_norm, b.record.trace[k].gradient_norm) << what;
  }
  ASSERT_EQ(a.record.spending.size(), b.record.spending.size()) << what;
  for (std::size_t k = 0; k < a.record.spending.size(); ++k)
    EXPECT_EQ(to_string(to_event(a.record.spending[k].events)),
              to_string(to_event(b.record.spending[k].events)))
        << what;
  ASSERT_EQ(a.record.gap.has_value(), b.record.gap.has_value()) << what;
  if (a.record.gap) {
    EXPECT_EQ(a.record.gap->gap, b.record.gap->gap) << what;
  }
  ASSERT_EQ(a.record.certificate.has_value(), b.record.certificate.has_value()) << what;
  if (a.record.certificate) {
    EXPECT_EQ(a.record.certificate->verdict, b.record.certificate->verdict) << what;
    EXPECT_EQ(a.record.certificate->gradient_norm, b.record.certificate->gradient_norm) << what;
    EXPECT_EQ(a.record.certificate->curvature_lower, b.record.certificate->curvature_lower) << what;
  }
}

struct Case {
  std::string method;
  GivenOptions given = {};
  ConstraintPtr set = nullptr;
  LossKind loss = LossKind::kLogistic;

  Trial trial() const { return Trial(method, given, 7, set, loss); }
};

/// Without it a test's name would tell addresses.
void PrintTo(const Case& each, std::ostream* out) { *out << each.method; }

/// A search with a tolerance below the gradients that it meets. Hessians are asked for although a
/// logistic loss has no saddles.
Case search(const std::string& method, GivenOptions more = {}) {
  GivenOptions given = {{"steps", "5"},
                        {"gradient_tolerance", "0.1"},
                        {"curvature_tolerance", "0.5"},
                        {"precision", "3"},
                        {"curvature_floor", "off"}};
  given.insert(given.end(), more.begin(), more.end());
  return {method, std::move(given)};
}

Matrix triangle() {
  Matrix vertices(3, 3);
  vertices << 1, 0, 0, 0, -1, 0, 0.5, 0.5, 1;
  return vertices;
}

/// Every method, and every option that gives it more to remember.
std::vector<Case> cases() {
  const GivenOptions kWhole = {{"steps", "6"}, {"output", "best"}, {"certificate_share", "0.2"}};
  const GivenOptions kMean = {{"steps", "6"}, {"output", "average"}};
  return {
      {"dp-gd", {{"steps", "6"}}},
      {"dp-gd", {{"steps", "6"}, {"output", "best"}, {"candidates", "3"}}},
      {"dp-gd", {{"steps", "6"}, {"average", "0.5"}, {"momentum", "0"}}},
      {"dp-gd", {{"steps", "9"}, {"output", "random"}, {"drawn_steps", "5"}}},
      {"gd", {{"steps", "5"}}},
      {"dp-sgd", {{"steps", "6"}, {"expected_batch", "20"}}},
      {"dp-sgd", {{"steps", "6"}, {"expected_batch", "20"}, {"update", "adam"}}},
      {"dp-sgd", {{"steps", "6"}, {"expected_batch", "20"}, {"update", "adam_bc"}}},
      {"dp-sgd", {{"steps", "6"}, {"expected_batch", "20"}, {"clip_quantile", "0.5"}}},
      {"dp-sgd", {{"steps", "6"}, {"expected_batch", "20"}, {"sampling", "fixed_size"}}},
      {"sgd", {{"steps", "6"}, {"expected_batch", "20"}}},
      {"rrpsgd", {{"steps", "9"}, {"expected_batch", "20"}, {"drawn_steps", "6"}}},
      {"dp-srm", {{"steps", "6"}, {"expected_batch", "20"}}},
      {"dp-srm",
       {{"steps", "6"}, {"expected_batch", "20"}, {"step_rule", "theory"}, {"output", "best"}}},
      {"dp-srm", {{"steps", "6"}, {"expected_batch", "20"}, {"sampling", "fixed_size"}}},
      {"private-spiderboost", {{"steps", "7"}, {"phase", "3"}, {"expected_batch", "20"}}},
      {"adp-sgd", {{"steps", "6"}, {"groups", "3"}, {"expected_batch", "20"}}},
      {"adp-sgd",
       {{"steps", "6"}, {"expected_batch", "20"}, {"step_rule", "adagrad"}, {"average", "0.5"}}},
      // Ends when its filter does, so that the filter's state matters to the last bit.
      {"adp-sgd",
       {{"steps", "40"},
        {"expected_batch", "30"},
        {"noise", "adaptive"},
        {"step_rule", "adagrad"},
        {"first_multiplier", "2"}}},
      {"storm", {{"steps", "6"}, {"expected_batch", "20"}}},
      {"auto"},
      // Long enough to forget its longest moves, so noisy that it often gets stuck.
      {"dp-agd", {{"most_steps", "40"}, {"splits", "60"}, {"candidates", "3"}}},
      {"dp-pgd", {{"steps", "6"}}},
      {"dp-pgd", kWhole, l2_ball(1)},
      {"dp-pmd", {{"steps", "6"}}, l1_ball(1)},
      {"dp-pmd", {{"steps", "6"}, {"mirror", "entropy"}}, l1_ball(1)},
      {"dp-pmd", kMean, simplex(1)},
      {"dp-fw-l2", kWhole, l2_ball(1)},
      {"dp-fw-l2", kMean, box(-1, 1)},
      {"dp-fw-l1", {{"steps", "6"}, {"selection", "exponential"}}, l1_ball(1)},
      {"dp-fw-l1",
       {{"steps", "9"},
        {"selection", "exponential"},
        {"average", "0.8"},
        {"step_rule", "harmonic"},
        {"certificate_share", "0.2"}},
       l1_ball(1)},
      {"dp-fw-l1", {{"steps", "6"}, {"selection", "noisy_max"}}, simplex(1)},
      {"dp-fw-l1",
       {{"steps", "6"}, {"selection", "exponential"}, {"output", "best"}},
       polytope(triangle())},
      {"dp-newton", {{"steps", "5"}, {"memory", "1"}}},
      {"newton", {{"steps", "4"}, {"longest_step", "0.1"}}},
      search("dp-tr"),
      // The scale of a Hessian that is only there to step with is found once for many steps.
      {"dp-tr",
       {{"steps", "6"}, {"gradient_tolerance", "0.1"}, {"precision", "3"}, {"radius", "0.05"}}},
      search("dp-tr", {{"solver", "lanczos"}, {"products", "3"}}),
      search("dp-tr-b", {{"expected_batch", "20"}}),
      search("dp-str", {{"expected_batch", "30"}}),
      search("tr"),
      search("opt"),
      search("opt", {{"solver", "lanczos"}}),
      search("opt-b", {{"expected_batch", "20"}}),
      // Glances at Hessians on the way, with a random start each.
      {"opt-b",
       {{"steps", "5"},
        {"gradient_tolerance", "0.4"},
        {"curvature_tolerance", "0.5"},
        {"curvature_floor", "off"},
        {"solver", "lanczos"},
        {"expected_batch", "20"}}},
      search("opt-ls", {{"candidates", "3"}}),
      search("opt-ls", {{"line_search", "sparse_vector"}}),
      search("2opt"),
      search("2opt-b", {{"expected_batch", "20"}}),
      search("2opt-ls", {{"candidates", "3"}}),
      search("dp-gd-sosp"),
      // How many steps there are is an answer, which a resumed run doesn't ask for again.
      {"dp-gd-sosp",
       {{"gradient_tolerance", "0.3"}, {"precision", "3"}},
       nullptr,
       LossKind::kSquared},
  };
}

class SeededResume : public ::testing::TestWithParam<Case> {};

TEST_P(SeededResume, AfterEveryStepGivesTheSameModelAndLedger) {
  const std::string& method = GetParam().method;
  Watch watch;
  const TrainResult whole = GetParam().trial().must(watch);
  const std::int64_t T = whole.record.steps;
  ASSERT_GE(T, 2);
  // auto makes hundreds of steps and is one of the others.
  for (std::int64_t stop = 1; stop <= T; stop += std::max<std::int64_t>(1, T / 40)) {
    Trial trial = GetParam().trial();
    trial.checkpoints();
    Watch first(stop);
    const TrainResult early = trial.must(first);
    if (!early.interrupted) {  // after its last step it is too late
      expect_same(early, whole, method);
      continue;
    }
    ASSERT_TRUE(fs::exists(trial.file()));
    Watch second;
    const TrainResult result = trial.must(second);
    expect_same(result, whole, method + " stopped after step " + std::to_string(stop));
  }
}

TEST_P(SeededResume, InterruptedAfterEverySingleStep) {
  const std::string& method = GetParam().method;
  Watch watch;
  const TrainResult whole = GetParam().trial().must(watch);
  Trial trial = GetParam().trial();
  trial.checkpoints();
  for (std::int64_t stop = 1; stop <= std::min<std::int64_t>(40, whole.record.steps); ++stop) {
    Watch next(stop);
    const TrainResult result = trial.must(next);
    ASSERT_EQ(next.last, stop);
    if (!result.interrupted) return expect_same(result, whole, method);
    if (stop != 3) continue;
    Trial once = GetParam().trial();
    once.checkpoints();
    Watch first(stop);
    once.must(first);
    EXPECT_TRUE(read_checkpoint(trial.file())->state == read_checkpoint(once.file())->state)
        << method << ": interrupted before, it is in another state";
  }
  Watch last;
  expect_same(trial.must(last), whole, method);
}

// A seed changes nothing about what is charged.
TEST_P(SeededResume, ACrashIsChargedAgainAndTheRunStaysWithinItsPrice) {
  const std::string& method = GetParam().method;
  Watch watch;
  const TrainResult whole = GetParam().trial().must(watch);
  ASSERT_GE(whole.record.steps, 3) << "the run is shorter than the crash is late";
  Trial trial = GetParam().trial();
  trial.checkpoints(2);
  // The files of a run that dies after its third step, one step after its last checkpoint.
  Watch dying;
  dying.at_step = [&](std::int64_t step) {
    if (step != 3) return;
    fs::copy_file(trial.file(), trial.dir.file("kept.ckpt"));
    if (fs::exists(trial.options.journal_path))
      fs::copy_file(trial.options.journal_path, trial.dir.file("kept.journal"));
  };
  trial.must(dying);
  constexpr auto kOver = fs::copy_options::overwrite_existing;
  fs::copy_file(trial.dir.file("kept.ckpt"), trial.file(), kOver);
  if (fs::exists(trial.options.journal_path))
    fs::copy_file(trial.dir.file("kept.journal"), trial.options.journal_path, kOver);
  Watch again;
  const TrainResult result = trial.must(again);
  if (!whole.record.privacy.is_private) return expect_same(result, whole, method);
  EXPECT_LE(result.record.privacy.epsilon, whole.record.privacy.epsilon * (1 + 1e-9));
  EXPECT_LE(result.record.steps, whole.record.steps);
  EXPECT_FALSE(result.record.lost.empty());
}

INSTANTIATE_TEST_SUITE_P(AllMethods,
                         SeededResume,
                         ::testing::ValuesIn(cases()),
                         [](const auto& test) {
                           std::string name = test.param.method + "_" + std::to_string(test.index);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// A network over persons, of which one has more rows than go through it together.
TEST(Checkpoint, APersonsNetworkIsResumed) {
  const NetworkSpec spec = testing::make_spec({5, 1, 1}, {"linear 4", "tanh", "linear 3"});
  const Table rows = testing::random_rows(spec, 60, 3);
  std::vector<float> values;
  std::vector<std::int64_t> owner;
  for (std::int64_t i = 0; i < rows.rows(); ++i) {
    values.insert(values.end(), rows.row(i), rows.row(i) + rows.dim());
    owner.push_back(i < 20 ? 0 : i / 2);
  }
  const auto labels = rows.labels();
  const Table persons =
      TableBuilder::dense(60, rows.dim(), values, {labels.begin(), labels.end()}, {}, owner);
  const auto engine = NetworkEngine::make(persons, spec).value();
  PublicProblem problem;
  problem.n = std::int64_t{persons.units()};
  problem.network = true;
  problem.start = initial_weights(spec, 1);
  problem.dimension = problem.start.size();
  for (const char* method : {"dp-sgd", "dp-srm", "private-spiderboost"}) {
    const TempDir dir;
    TrainOptions options;
    options.method = method;
    options.options = {{"steps", "7"}, {"expected_batch", "9"}};
    options.noise_multiplier = 2;
    options.delta = 1e-5;
    options.seed = 7;
    options.unit = "who";
    options.most_rows = 25;
    const auto run = [&](Watch watch) {
      auto prepared = prepare(problem, options);
      EXPECT_TRUE(prepared) << prepared.error().message;
      auto result = train(*engine, problem, options, *std::move(prepared), watch);
      EXPECT_TRUE(result) << result.error().message;
      if (result->ledger) {
        EXPECT_TRUE(result->ledger->close(kFinished));
      }
      result->ledger.reset();
      return *std::move(result);
    };
    options.journal_path = dir.file("whole.journal");
    const TrainResult whole = run(Watch());
    EXPECT_EQ(whole.record.privacy.most_rows, 25);
    options.journal_path = dir.file("m.journal");
    options.checkpoint.path = dir.file("run.ckpt");
    options.checkpoint.every = 1;
    options.checkpoint.resume = true;
    EXPECT_TRUE(run(Watch(3)).interrupted) << method;
    // Another limit is another run.
    options.most_rows = 26;
    const auto refused = prepare(problem, options);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("most_rows"));
    options.most_rows = 25;
    expect_same(run(Watch()), whole, method);
  }
}

TEST(Checkpoint, EveryMethodIsTestedHere) {
  std::set<std::string> tested;
  for (const Case& each : cases()) tested.insert(each.method);
  for (const auto& method : methods()) EXPECT_TRUE(tested.contains(method.name)) << method.name;
}

/// Descent with momentum, which a twin forgets to show.
class HeavyBall final : public Optimizer {
 public:
  explicit HeavyBall(bool forgets) : forgets_(forgets) {}
  Plan plan(const PublicProblem& problem, double z) const override {
    const Vector anywhere;
    return {Event::repeat(kSteps, event_of(query(anywhere, z), problem.relation)),
            kSteps * problem.dimension};
  }
  Expected<OptimizerResult> run(Oracle& oracle, double z, Observer& observer) const override {
    Vector w = oracle.problem().first_iterate();
    Vector momentum = w;
    Steps steps(observer, kSteps);
    SOTTO_TRY(steps.begin([&](Archive& state) {
      state("iterate", w);
      if (!forgets_) state("momentum", momentum);
    }));
    while (steps.next()) {
      SOTTO_ASSIGN(const auto g, steps.unless_spent(oracle.gradient(query(w, z))));
      if (!g) break;
      momentum = 0.9 * momentum + g->value();
      w -= 0.1 * momentum;
      steps.finish(0.1, g->value().norm(), &w);
    }
    return steps.result(w);
  }

 private:
  static constexpr std::int64_t kSteps = 6;
  static GradientQuery query(const Vector& at, double z) { return {at, Sampling::full(), 1, z}; }
  bool forgets_;
};

TEST(Checkpoint, AMethodThatForgetsAFieldIsCaught) {
  for (const bool forgets : {false, true}) {
    MethodInfo heavy = **find_method("dp-gd");
    heavy.name = "heavy-ball";
    heavy.configure = [forgets](const GivenOptions&, const PublicFacts&) {
      return Expected<ConfiguredMethod>({std::make_unique<HeavyBall>(forgets), {}});
    };
    const auto weights = [&](std::vector<std::int64_t> stops) {
      Trial trial("dp-gd");
      trial.options.unlisted = &heavy;
      trial.checkpoints();
      stops.push_back(kNever);
      Vector w;
      for (const std::int64_t stop : stops) {
        Watch watch(stop);
        w = trial.must(watch).w;
      }
      return w;
    };
    EXPECT_EQ(weights({}) == weights({3}), !forgets);
  }
}

TEST(Checkpoint, APathThatLeadsToNoVertexIsRefused) {
  for (const std::vector<double>& move :
       {std::vector<double>{0.5, 2, 1}, {0, 1, 1}, {1.5, 1, 1}, {0.5, 3, 1}, {0.5, -1, 1}}) {
    StateWriter writer;
    std::vector<double> moves = move;
    writer("path.moves", moves, 3);
    const std::string bytes = writer.take();
    StateReader reader(bytes, 3);
    VertexPath path(3);
    reader("path", path);
    EXPECT_EQ(reader.finish().has_value(), move[1] == 2) << move[0] << ", " << move[1];
    EXPECT_EQ(path.moves().size(), move[1] == 2 ? 1u : 0u);
  }
}

TEST(Checkpoint, ASecureRunWritesReleasedAndPublicPartsOnly) {
  Trial trial("dp-sgd", {{"steps", "6"}, {"update", "adam"}}, std::nullopt);
  trial.checkpoints();
  Watch first(4);
  trial.must(first);
  const Checkpoint secure = *read_checkpoint(trial.file());
  // The list of checkpoint.proof.md, in the file's order.
  StateReader reader(secure.state, 3);
  std::int64_t integer = 0;
  double number = 0;
  Vector vector;
  std::vector<double> numbers;
  std::vector<std::string> texts;
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  reader("planned", integer, 6, 6)("step", integer, 4, 4)("iterate", vector);
  reader("direction.first moment", vector)("direction.second moment", vector);
  reader("direction.count", integer, 0, kMost)("clip radius", number, 0, 1e300);
  reader("output.average.seen", integer, 0, kMost)("output.average.averaged", integer, 0, kMost);
  reader("output.average.value", vector)("output.seen", integer, 0, kMost);
  reader("oracle.evaluations", number, 0, 1e300)("oracle.visits", number, 0, 1e300);
  reader("oracle.batches.drawn.count", integer, 1, 1);
  reader("oracle.batches.drawn.0.kind", integer, 0, 2);
  reader("oracle.batches.drawn.0.rate", number, 0, 1);
  for (const char* name : {"batch", "population", "count"})
    reader(std::string("oracle.batches.drawn.0.") + name, integer, 0, kMost);
  reader("trace.trace every", integer, 1, kMost);
  reader("trace.trace", numbers, 10'000)("trace.spending every", integer, 1, kMost);
  reader("trace.spending", numbers, 10'000)("trace.spent", texts, 100);
  const auto all = reader.finish();
  EXPECT_TRUE(all) << all.error().message;
  EXPECT_EQ(secure.state.find("position"), std::string::npos);

  // What would be found: a seeded run's places in its streams.
  Trial seeded("dp-sgd", {{"steps", "6"}, {"update", "adam"}});
  seeded.checkpoints();
  Watch again(4);
  seeded.must(again);
  EXPECT_NE(read_checkpoint(seeded.file())->state.find("position"), std::string::npos);
}

// The same steps, once with pauses between them.
TEST(Checkpoint, HoldsNoClock) {
  std::vector<Checkpoint> seen;
  for (const int pause : {0, 15}) {
    Trial trial("dp-sgd", {{"steps", "6"}});
    trial.checkpoints();
    Watch watch(4);
    watch.at_step = [&](std::int64_t) {
      std::this_thread::sleep_for(std::chrono::milliseconds(pause));
    };
    trial.must(watch);
    seen.push_back(*read_checkpoint(trial.file()));
  }
  EXPECT_EQ(seen[0].state, seen[1].state);
  EXPECT_EQ(seen[0].facts, seen[1].facts);
}

TEST(Checkpoint, IsWrittenByCountsAndNotByTheClock) {
  Trial trial("dp-gd", {{"steps", "300"}});
  trial.checkpoints();
  trial.options.checkpoint.every.reset();
  Watch watch;
  std::vector<std::int64_t> written;
  watch.at_step = [&](std::int64_t step) {
    // As the last step left it.
    if (step <= 8)
      written.push_back(fs::exists(trial.file()) ? read_checkpoint(trial.file())->step : 0);
  };
  trial.must(watch);
  EXPECT_EQ(written, (std::vector<std::int64_t>{0, 0, 0, 3, 3, 3, 6, 6}));
}

TEST(Train, AStoppedRunCostsItsPlan) {
  Trial trial("dp-gd", {{"steps", "40"}}, std::nullopt);
  Watch whole;
  const TrainResult complete = trial.must(whole);
  for (const std::int64_t stop : {1, 13}) {
    Watch watch(stop);
    const TrainResult stopped = trial.must(watch);
    EXPECT_EQ(stopped.record.steps, stop);
    EXPECT_EQ(stopped.record.privacy.epsilon, complete.record.privacy.epsilon);
    EXPECT_EQ(stopped.record.privacy.rule, "plan");
  }
  EXPECT_NEAR(complete.record.privacy.epsilon, 3, 1e-4);
}

}  // namespace
}  // namespace sotto
