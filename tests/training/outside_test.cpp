// What programs bring along: methods and losses that the library does not know.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "examples/normalized_descent.hpp"
#include "sotto/data/synthetic.hpp"
#include "sotto/task/task.hpp"
#include "tests/support/temp_dir.hpp"

namespace sotto {
namespace {

using ::testing::HasSubstr;

TrainOptions seeded() {
  TrainOptions how;
  how.epsilon = 1;
  how.delta = 1e-6;
  how.seed = 3;
  return how;
}

/// Asks once more than it planned.
class Greedy final : public Optimizer {
 public:
  Plan plan(const PublicProblem& problem, double z) const override {
    return {Event::gaussian(z, problem.relation), problem.dimension};
  }
  Expected<OptimizerResult> run(Oracle& oracle, double z, Observer&) const override {
    const Vector w = oracle.problem().first_iterate();
    SOTTO_TRY(oracle.gradient({w, Sampling::full(), 1, z}));
    SOTTO_TRY(oracle.gradient({w, Sampling::full(), 1, z}));
    return OptimizerResult{w, 1};
  }
};

TEST(OwnMethod, IsCalibratedAndChargedByItsPlan) {
  auto task = Task::of(make_census(500, 1).data, {});
  ASSERT_TRUE(task);
  const MethodInfo method = examples::normalized_descent();
  TrainOptions how = seeded();
  how.unlisted = &method;
  how.options = {{"steps", "7"}};
  const auto trained = train(*task, how);
  ASSERT_TRUE(trained) << trained.error().message;
  EXPECT_EQ(trained->record.method, "normalized-descent");
  EXPECT_THAT(trained->record.privacy.events, HasSubstr("repeat(7, gaussian("));
  EXPECT_NEAR(trained->record.privacy.epsilon, 1, 1e-3);
  EXPECT_LE(trained->record.privacy.epsilon, 1);
  EXPECT_GT(trained->model.w.norm(), 0);
}

TEST(OwnMethod, IsRefusedWhatItDidNotPlan) {
  auto task = Task::of(make_census(500, 1).data, {});
  ASSERT_TRUE(task);
  MethodInfo method = examples::normalized_descent();
  method.configure = [](const GivenOptions&, const PublicFacts&) -> Expected<ConfiguredMethod> {
    return ConfiguredMethod{std::make_unique<Greedy>(), {}};
  };
  TrainOptions how = seeded();
  how.unlisted = &method;
  const auto trained = train(*task, how);
  ASSERT_FALSE(trained);
  EXPECT_EQ(trained.error().kind, ErrorKind::kBudget);
}

TEST(OwnMethod, NeedsANameOfItsOwnAndAsManyWeightsAsTheModel) {
  auto task = Task::of(make_census(500, 1).data, {});
  ASSERT_TRUE(task);
  MethodInfo method = examples::normalized_descent();
  TrainOptions how = seeded();
  how.unlisted = &method;
  for (const char* name : {"", "dp-gd", "two words", "a\nb"}) {
    method.name = name;
    const auto trained = train(*task, how);
    ASSERT_FALSE(trained) << name;
    EXPECT_EQ(trained.error().kind, ErrorKind::kUsage);
  }
  method.name = "short";
  class Short final : public Optimizer {
   public:
    Plan plan(const PublicProblem& problem, double z) const override {
      return {Event::gaussian(z, problem.relation), problem.dimension};
    }
    Expected<OptimizerResult> run(Oracle&, double, Observer&) const override {
      return OptimizerResult{Vector::Zero(1), 1};
    }
  };
  method.configure = [](const GivenOptions&, const PublicFacts&) -> Expected<ConfiguredMethod> {
    return ConfiguredMethod{std::make_unique<Short>(), {}};
  };
  const auto trained = train(*task, how);
  ASSERT_FALSE(trained);
  EXPECT_EQ(trained.error().kind, ErrorKind::kNoModel);
}

// Claims of sensitivity rest on what readers of files see to: rows of a program are looked at
// before anything is opened.
TEST(OwnRows, ThatBreakTheDeclarationAreRefusedBeforeAnythingIsOpened) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const auto kind = [](float x, float label, double built_with, LossSpec loss) {
    std::vector<float> values(40, 0.1F), labels(20, 1.0F);
    values[38] = x;
    labels[19] = label;
    Dataset data;
    data.table = TableBuilder::dense(20, 2, values, labels, {built_with, false});
    data.row_norm_bound = 1;
    data.class_names = {"-1", "1"};
    TaskOptions what;
    what.loss = loss;
    what.relation = Relation::kReplaceOne;
    auto task = Task::of(std::move(data), what);
    if (!task) return std::optional(task.error().kind);
    const testing::TempDir dir;
    TrainOptions how = seeded();
    how.journal_path = dir.file("journal");
    const auto trained = train(*task, how);
    if (trained) return std::optional<ErrorKind>();
    EXPECT_EQ(testing::TempDir::read(dir.file("journal")), "");
    return std::optional(trained.error().kind);
  };
  EXPECT_EQ(kind(0.6F, 1, 1, {}), std::nullopt);
  EXPECT_EQ(kind(30, 1, 1, {}), std::nullopt) << "scaled to the bound";
  EXPECT_EQ(kind(0.6F, 5, 1, LossKind::kSquared), std::nullopt);
  EXPECT_EQ(kind(0.6F, 5, 1, {}), ErrorKind::kBadData);
  EXPECT_EQ(kind(0.6F, kNan, 1, LossKind::kSquared), ErrorKind::kBadData);
  EXPECT_EQ(kind(30, 1, 0, {}), ErrorKind::kBadData);
  EXPECT_EQ(kind(kNan, 1, 1, {}), ErrorKind::kBadData);
}

OwnLoss half_squared_margin() {
  OwnLoss loss;
  loss.name = "margin";
  loss.value = [](double z, double y) noexcept { return 0.5 * (1 - y * z) * (1 - y * z); };
  loss.first = [](double z, double y) noexcept { return z - y; };
  loss.second = [](double, double) noexcept { return 1.0; };
  loss.inf_second = loss.sup_second = 1;
  loss.sup_third = 0;
  return loss;
}

TEST(OwnLoss, TrainsAndItsModelPredictsWithoutIt) {
  TaskOptions what;
  what.loss = half_squared_margin();
  auto task = Task::of(make_census(5'000, 1).data, what);
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_FALSE(task->problem().linear_rows) << "no sensitivity follows the model";
  auto trained = train(*task, seeded());
  ASSERT_TRUE(trained) << trained.error().message;
  EXPECT_EQ(trained->record.loss, "own:margin");
  const Dataset others = make_census(1'000, 1, 1).data;
  const auto metrics = task->evaluate(others, trained->model.w);
  ASSERT_TRUE(metrics);
  EXPECT_GT(metrics->accuracy, 0.75);

  const testing::TempDir dir;
  ASSERT_TRUE(trained->keep(dir.file("model.json")));
  Model model = load_model(dir.file("model.json")).value();
  auto family = family_of(model);
  ASSERT_TRUE(family);
  EXPECT_EQ((*family)->predict(others.table, model.w).value(),
            task->predict(others, trained->model.w).value());
  const auto outputs = (*family)->outputs(others.table, model.w);
  const auto blind = (*family)->evaluate(others.table, model.w, *outputs);
  ASSERT_FALSE(blind);
  EXPECT_THAT(blind.error().message, HasSubstr("has no functions here"));
  model.loss = what.loss;
  EXPECT_EQ(family_of(model).value()->evaluate(others.table, model.w, *outputs).value().loss,
            metrics->loss);
}

TEST(OwnLoss, EveryMethodFamilyTakesItOrSaysWhy) {
  TaskOptions what;
  what.loss = half_squared_margin();
  auto task = Task::of(make_census(300, 1).data, what);
  ASSERT_TRUE(task);
  for (const char* method : {"dp-sgd", "dp-srm", "dp-newton", "dp-tr", "opt"}) {
    TrainOptions how = seeded();
    how.method = method;
    const auto trained = train(*task, how);
    if (trained)
      EXPECT_LE(trained->record.privacy.epsilon, 1) << method;
    else
      EXPECT_EQ(trained.error().kind, ErrorKind::kUsage) << method << trained.error().message;
  }
  TrainOptions how = seeded();
  how.options = {{"clip_rule", "glm"}};
  const auto refused = train(*task, how);
  ASSERT_FALSE(refused) << "its bounds are not proven";
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
}

TEST(OwnLoss, IsRefusedByNameIfAPartIsMissing) {
  const auto message = [](const OwnLoss& loss) {
    TaskOptions what;
    what.loss = loss;
    const auto task = Task::of(make_census(10, 1).data, what);
    return task ? "" : task.error().message;
  };
  EXPECT_EQ(message(half_squared_margin()), "");
  OwnLoss loss = half_squared_margin();
  loss.second = nullptr;
  EXPECT_THAT(message(loss), HasSubstr("'margin' has no functions"));
  loss = half_squared_margin();
  loss.name = "two words";
  EXPECT_THAT(message(loss), HasSubstr("needs a name"));
  loss = half_squared_margin();
  loss.sup_second = std::numeric_limits<double>::infinity();
  EXPECT_THAT(message(loss), HasSubstr("must be finite"));
  loss = half_squared_margin();
  loss.typical_first = std::nan("");
  EXPECT_THAT(message(loss), HasSubstr("typical_first nan"));
}

}  // namespace
}  // namespace sotto
