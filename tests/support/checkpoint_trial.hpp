#pragma once

// Runs that are stopped and continued, for the tests of checkpoints.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "sotto/training/checkpoint.hpp"
#include "sotto/training/train.hpp"
#include "tests/support/small_glm.hpp"
#include "tests/support/temp_dir.hpp"

namespace sotto::testing {

inline constexpr std::int64_t kNever = 1 << 30;

/// Stops after a step, and copies the files there are after another.
class Watch final : public Observer {
 public:
  explicit Watch(std::int64_t stop = kNever) : stop_(stop) {}
  bool keep_going(const StepReport& report) override {
    last = report.step;
    if (at_step) at_step(report.step);
    return report.step < stop_;
  }
  std::int64_t last = 0;
  std::function<void(std::int64_t)> at_step;

 private:
  std::int64_t stop_;
};

struct Trial {
  explicit Trial(std::string method,
                 GivenOptions given = {},
                 std::optional<std::uint64_t> seed = 7,
                 ConstraintPtr set = nullptr,
                 LossKind loss = LossKind::kLogistic)
      : small(loss, 15), problem(small.facts().problem) {
    problem.constraint = std::move(set);
    options.method = std::move(method);
    options.options = std::move(given);
    options.seed = seed;
    options.delta = 1e-5;
    const MethodInfo& info = **find_method(options.method);
    if (info.is_private) options.noise_multiplier = 2;
    if (!seed || (info.is_private && filtered(info))) with_budget();
    options.journal_path = dir.file("m.journal");
  }
  void with_budget() {
    options.noise_multiplier.reset();
    options.epsilon = 3;
    // Of 60 rows a search would see nothing.
    if ((*find_method(options.method))->needs.has(Capability::kHessians)) options.epsilon = 12;
  }
  /// Whether the budget's end is the run's: then it needs one.
  bool filtered(const MethodInfo& info) const {
    PublicFacts facts = small.facts();
    facts.problem = problem;
    const auto configured = info.configure(options.options, facts);
    return configured && !configured->optimizer->plan(problem, 1).filter.empty();
  }
  void checkpoints(std::int64_t every = kNever) {
    options.checkpoint.path = file();
    options.checkpoint.every = every;
    options.checkpoint.resume = true;
  }
  std::string file() const { return dir.file("run.ckpt"); }

  Expected<TrainResult> run(Observer& observer) const {
    SOTTO_ASSIGN(PreparedRun prepared, prepare(problem, options));
    SOTTO_ASSIGN(TrainResult result,
                 train(small.engine(), problem, options, std::move(prepared), observer));
    // As whoever keeps the model does.
    if (result.ledger) SOTTO_TRY(result.ledger->close(kFinished));
    result.ledger.reset();
    return result;
  }
  TrainResult must(Observer& observer) const {
    auto result = run(observer);
    EXPECT_TRUE(result) << result.error().message;
    return result ? *std::move(result) : TrainResult{};
  }

  TempDir dir;
  SmallGlm small;
  PublicProblem problem;
  TrainOptions options;
};

}  // namespace sotto::testing
