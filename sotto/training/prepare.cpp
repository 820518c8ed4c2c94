#include "sotto/training/prepare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/dense_limit.hpp"
#include "sotto/core/directed_text.hpp"
#include "sotto/core/file.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/core/option_names.hpp"
#include "sotto/mechanism/carried.hpp"
#include "sotto/privacy/calibrate.hpp"
#include "sotto/training/checkpoint.hpp"
#include "sotto/training/checkpoint_file.hpp"
#include "sotto/training/public_facts.hpp"
#include "sotto/training/run_facts.hpp"
#include "sotto/training/run_parts.hpp"

namespace sotto {
namespace {

/// Sizes of rows, of clipped gradients and of everything else that is set, for which squares, sums
/// and the noise's grid are numbers of double, with room to spare. Beyond them a run would fail
/// after its first charge.
/// Beyond it a guarantee is hardly one: e^10 is 22,026.
constexpr double kLittleEpsilon = 10;

constexpr double kSmallest = 1e-60;
constexpr double kLargest = 1e60;

Expected<void> check_budget(const TrainOptions& options, bool is_private) {
  if (!is_private) return {};
  if (options.epsilon.has_value() == options.noise_multiplier.has_value())
    return fail(
        ErrorKind::kUsage,
        "give ‘epsilon’ (and the noise follows) or ‘noise_multiplier’ (and epsilon follows), "
        "exactly one of them. Neither has a default: how much privacy to spend is your "
        "decision.");
  SOTTO_TRY(check(Target{options.epsilon.value_or(1), options.delta}));
  if (options.noise_multiplier &&
      !(*options.noise_multiplier >= kSmallest && *options.noise_multiplier <= kLargest))
    return fail(ErrorKind::kUsage,
                fmt::format("‘noise_multiplier’ must be finite and > 0 ({} to {}), but is {}.",
                            kSmallest,
                            kLargest,
                            *options.noise_multiplier));
  return {};
}

/// What a checkpoint file needs of the run, and the earlier state if there is one to continue.
Expected<void> prepare_checkpoint(PreparedRun& run, const TrainOptions& options) {
  const CheckpointOptions& checkpoint = options.checkpoint;
  run.checkpoint = std::make_shared<CheckpointFile>(checkpoint.path);
  if (checkpoint.path.empty()) return {};
  if (checkpoint.every && *checkpoint.every < 1)
    return fail(ErrorKind::kUsage,
                fmt::format("‘every’ must be at least 1 step, but is {}.", *checkpoint.every));
  SOTTO_TRY(check_writable(checkpoint.path));
  SOTTO_ASSIGN(const bool there, file_exists(checkpoint.path));
  if (!there) return {};
  if (!checkpoint.resume)
    return fail(ErrorKind::kUsage,
                fmt::format("{} holds the state of an earlier run. Add ‘resume’ to resume it, or "
                            "remove it to start afresh.",
                            checkpoint.path));
  SOTTO_ASSIGN(Checkpoint found, run.checkpoint->read());
  run.resumed = std::make_shared<const Checkpoint>(std::move(found));
  return {};
}

Expected<void> compare_checkpoint(PreparedRun& run,
                                  const PublicProblem& problem,
                                  const TrainOptions& options) {
  if (options.checkpoint.path.empty()) return {};
  run.facts = facts_of(problem, options, run);
  if (!run.resumed) return {};
  return check_facts(run.facts, *run.resumed, options.checkpoint.path);
}

/// A run without a plan: its filter is the accountant, and the budget is what it costs.
Expected<void> prepare_filter(PreparedRun& run, const TrainOptions& options) {
  if (!options.epsilon)
    return fail(ErrorKind::kUsage,
                fmt::format("{} chooses its noise as it runs and needs a budget to stop at: give "
                            "‘epsilon’, not ‘noise_multiplier’.",
                            run.method->name));
  SOTTO_ASSIGN(const Accountant* accountant, find_accountant(run.plan.filter));
  if (run.accountant && run.accountant->name() != accountant->name())
    return fail(
        ErrorKind::kUsage,
        fmt::format("{} chooses its releases as it runs, which only the {} filter can account "
                    "for. Leave out ‘accountant’.",
                    run.method->name,
                    run.plan.filter));
  run.accountant = accountant;
  run.noise_multiplier = 1;
  run.epsilon_planned = *options.epsilon;
  return {};
}

/// Where nothing is charged a run may diverge and say so: only the sizes of its terms are checked.
Expected<void> check_sizes(const PublicProblem& problem,
                           const std::vector<Setting>& settings,
                           bool is_private) {
  const auto is_size = [](const std::string& name) {
    return name.find("clip") != name.npos || name.find("radius") != name.npos;
  };
  const auto check = [&](const std::string& name, double value) -> Expected<void> {
    if (!(std::isfinite(value) && value > 0) || (value >= kSmallest && value <= kLargest))
      return {};
    return fail(ErrorKind::kUsage,
                fmt::format("{} is {}, but must lie between {} and {}: beyond that sums of squares "
                            "are no numbers. Nothing was released.",
                            name,
                            value,
                            kSmallest,
                            kLargest));
  };
  SOTTO_TRY(check("the bound on the rows' norms", problem.row_norm));
  SOTTO_TRY(check("the bound on the rows' entries", problem.row_max));
  for (const Setting& setting : settings) {
    if (!is_private && !is_size(setting.name)) continue;
    if (const auto value = number_in<double>(setting.value))
      SOTTO_TRY(check(marked(setting.name), std::abs(*value)));
  }
  return {};
}

/// A name that stands in files and messages, and is nobody else's.
Expected<void> check_name(const MethodInfo& unlisted) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  };
  if (!unlisted.name.empty() && std::all_of(unlisted.name.begin(), unlisted.name.end(), plain) &&
      !find_method(unlisted.name))
    return {};
  return fail(ErrorKind::kUsage,
              "a method of a program's own needs a name of letters, digits and dashes that no "
              "method of Sotto has.");
}

/// How many numbers one release has, at most: a gradient with a count, and a Hessian.
std::int64_t most_values(const PublicProblem& problem, const MethodInfo& method) {
  const std::int64_t d = problem.dimension;
  return d + 1 + (method.needs.has(Capability::kHessians) ? d * (d + 1) / 2 : 0);
}

}  // namespace

Stream make_stream(const TrainOptions& options, Purpose purpose) {
  return options.seed ? Stream::seeded(*options.seed, purpose) : Stream::secure(purpose);
}

Expected<void> check_needs(const MethodInfo& method,
                           const PublicProblem& problem,
                           Capabilities offers) {
  const Capabilities missing = method.needs.without(offers);
  if (missing.empty()) return {};
  return fail(ErrorKind::kUsage,
              fmt::format("{} asks for {}, which {} have here. Use {}a first-order method such as "
                          "dp-sgd or dp-srm (`sotto methods` says what each needs).",
                          method.name,
                          to_string(missing),
                          problem.network ? "networks don't" : "this model does not",
                          problem.network ? "a linear model, or " : ""));
}

Expected<PreparedRun> prepare(const PublicProblem& problem, const TrainOptions& options) {
  PreparedRun run;
  run.method = options.unlisted;
  if (run.method) {
    SOTTO_TRY(check_name(*run.method));
  } else {
    SOTTO_ASSIGN(run.method, find_method(options.method));
    SOTTO_TRY(check_options(*run.method, options.options));
  }
  const bool is_private = run.method->is_private;
  SOTTO_TRY(check_budget(options, is_private));
  SOTTO_TRY(check_weights(problem.dimension));
  if (problem.constraint && !run.method->constraints)
    return fail(ErrorKind::kUsage,
                fmt::format("{} does not keep the weights in a set, but ‘constraint {}’ asks for "
                            "it. Use dp-pgd, dp-pmd, dp-fw-l2 or dp-fw-l1, or leave it out.",
                            run.method->name,
                            problem.constraint->to_string()));
  SOTTO_TRY(check_needs(*run.method, problem, problem.offers()));
  SOTTO_TRY(prepare_checkpoint(run, options));
  run.coin = run.resumed ? run.resumed->coin : make_stream(options, Purpose::kSelection).uniform();
  PublicFacts facts{problem, 0, run.coin, {}};
  if (is_private) {
    SOTTO_ASSIGN(facts, public_facts(problem, options, run.coin));
  }
  SOTTO_ASSIGN(run.configured, run.method->configure(options.options, facts));
  SOTTO_TRY(check_sizes(problem, run.configured.settings, is_private));
  if (!is_private) {
    run.epsilon_planned = kInfinity;
    SOTTO_TRY(compare_checkpoint(run, problem, options));
    return run;
  }

  const Optimizer& optimizer = *run.configured.optimizer;
  if (!options.accountant.empty()) {
    SOTTO_ASSIGN(run.accountant, find_accountant(options.accountant));
  }
  run.plan = optimizer.plan(problem, 1);
  if (!run.plan.filter.empty()) {
    SOTTO_TRY(prepare_filter(run, options));
    SOTTO_TRY(compare_checkpoint(run, problem, options));
    return run;
  }
  if (options.epsilon) {
    const std::int64_t samples = optimizer.plan(problem, 1).noise_samples;
    SOTTO_ASSIGN(const Target ideal, ideal_target({*options.epsilon, options.delta}, samples));
    SOTTO_ASSIGN(
        run.noise_multiplier,
        calibrate_noise(
            [&](double z) { return optimizer.plan(problem, z).event; }, ideal, run.accountant));
  } else {
    run.noise_multiplier = *options.noise_multiplier;
  }
  if (run.noise_multiplier * std::sqrt(static_cast<double>(problem.dimension)) > 0x1p33)
    return fail(
        ErrorKind::kBudget,
        fmt::format("this budget asks for a noise multiplier of {:.3g}, beyond what the noise "
                    "sampler's grid can carry in {} dimensions. Nothing was released. Use a "
                    "larger ‘epsilon’ or fewer steps.",
                    run.noise_multiplier,
                    problem.dimension));
  run.plan = optimizer.plan(problem, run.noise_multiplier);
  SOTTO_ASSIGN(const CanonicalEvent plan, canonical(run.plan.event));
  SOTTO_TRY(check_carried(plan, most_values(problem, *run.method)));
  if (!run.accountant) {
    SOTTO_ASSIGN(run.accountant, tightest_accountant(plan));
  }
  SOTTO_ASSIGN(run.epsilon_planned,
               epsilon_with_samples(plan, run.plan.noise_samples, options.delta, *run.accountant));
  if (options.delta * static_cast<double>(problem.n) >= 1)
    run.warnings.push_back(
        fmt::format("delta {} is at least 1/n = {:.3g}: a mechanism that publishes one random "
                    "record whole would "
                    "also satisfy it. Choose delta well below 1/n.",
                    options.delta,
                    1 / static_cast<double>(problem.n)));
  if (run.epsilon_planned > kLittleEpsilon)
    run.warnings.push_back(
        fmt::format("epsilon {0} promises little: the odds of what anybody believes of a unit may "
                    "grow e^{0}-fold. Below 1 the promise is strong, above {1} hardly one.",
                    text_up(run.epsilon_planned, 4),
                    kLittleEpsilon));
  SOTTO_TRY(compare_checkpoint(run, problem, options));
  return run;
}

}  // namespace sotto
