#include "sotto/training/train.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "sotto/core/version.hpp"
#include "sotto/oracle/exact_oracle.hpp"
#include "sotto/oracle/private_oracle.hpp"
#include "sotto/privacy/calibrate.hpp"
#include "sotto/training/measures.hpp"
#include "sotto/training/thinned.hpp"

namespace sotto {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kTracePoints = 1000;
constexpr std::size_t kSpendingPoints = 32;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

Stream make_stream(const TrainOptions& options, Purpose purpose) {
  return options.seed ? Stream::seeded(*options.seed, purpose) : Stream::secure(purpose);
}

/// Remembers the run's trace and, for a private one, what had been spent.
class Tracer final : public Observer {
 public:
  /// `passes`: the expected passes over the data so far, which are public. `ledger`: null if the
  /// run is not private.
  Tracer(Observer& next,
         std::function<double()> passes,
         const Ledger* ledger,
         std::chrono::steady_clock::time_point begin)
      : next_(next), passes_(std::move(passes)), ledger_(ledger), begin_(begin) {}

  bool keep_going(const StepReport& step) override {
    StepReport report = step;
    report.passes = passes_();
    trace_.offer(report.step, [&] {
      return TracePoint{report.step,
                        report.step_size,
                        report.gradient_norm,
                        report.passes,
                        seconds_since(begin_)};
    });
    if (ledger_) spending_.offer(report.step, [&] { return spent_after(report.step); });
    return next_.keep_going(report);
  }

  std::vector<TracePoint> trace() { return trace_.take(); }
  /// With the run's end, whatever it released after the last step included.
  std::vector<SpentPoint> spending(std::int64_t steps) {
    std::vector<SpentPoint> points = spending_.take();
    if (!ledger_) return points;
    if (!points.empty() && points.back().step == steps) points.pop_back();
    points.push_back(spent_after(steps));
    return points;
  }

 private:
  SpentPoint spent_after(std::int64_t step) const {
    return {
        step, passes_(), ledger_->spent(), ledger_->samples_spent(), {}, ledger_->filter_share()};
  }

  Observer& next_;
  std::function<double()> passes_;
  const Ledger* ledger_;
  std::chrono::steady_clock::time_point begin_;
  Thinned<TracePoint> trace_{kTracePoints};
  Thinned<SpentPoint> spending_{kSpendingPoints};
};

Expected<void> check_budget(const TrainOptions& options, bool is_private) {
  if (!is_private) return {};
  if (options.epsilon.has_value() == options.noise_multiplier.has_value())
    return fail(
        ErrorKind::kUsage,
        "give --epsilon (and the noise follows) or --noise-multiplier (and epsilon follows), "
        "exactly one of them. Neither has a default: how much privacy to spend is your "
        "decision.");
  SOTTO_TRY(check(Target{options.epsilon.value_or(1), options.delta}));
  if (options.noise_multiplier &&
      !(std::isfinite(*options.noise_multiplier) && *options.noise_multiplier > 0))
    return fail(ErrorKind::kUsage,
                fmt::format("--noise-multiplier must be finite and > 0, but is {}.",
                            *options.noise_multiplier));
  return {};
}

/// How noisy one full-batch release with the whole budget would be.
Expected<double> single_release_multiplier(const PublicProblem& problem,
                                           const TrainOptions& options) {
  // With the noise given by hand the budget is unknown; a run of 100 steps is taken as typical.
  if (options.noise_multiplier) return *options.noise_multiplier / 10;
  return calibrate_noise([&](double z) { return Event::gaussian(z, problem.relation); },
                         {*options.epsilon, options.delta});
}

/// A run without a plan: its filter is the accountant, and the budget is what it costs.
Expected<void> prepare_filter(PreparedRun& run, const TrainOptions& options) {
  if (!options.epsilon)
    return fail(ErrorKind::kUsage,
                fmt::format("{} chooses its noise as it runs and needs a budget to stop at: give "
                            "--epsilon, not --noise-multiplier.",
                            run.method->name));
  SOTTO_ASSIGN(const Accountant* accountant, find_accountant(run.plan.filter));
  if (run.accountant && run.accountant->name() != accountant->name())
    return fail(
        ErrorKind::kUsage,
        fmt::format("{} chooses its releases as it runs, which only the {} filter can account "
                    "for. Leave out --accountant.",
                    run.method->name,
                    run.plan.filter));
  run.accountant = accountant;
  run.noise_multiplier = 1;
  run.epsilon_planned = *options.epsilon;
  return {};
}

}  // namespace

Expected<PreparedRun> prepare(const PublicProblem& problem, const TrainOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  PreparedRun run;
  SOTTO_ASSIGN(run.method, find_method(options.method));
  const bool is_private = run.method->is_private;
  SOTTO_TRY(check_budget(options, is_private));
  if (problem.constraint && !run.method->constraints)
    return fail(ErrorKind::kUsage,
                fmt::format("{} does not keep the weights in a set, but --constraint {} asks for "
                            "it. Use dp-pgd, dp-pmd, dp-fw-l2 or dp-fw-l1, or leave it out.",
                            run.method->name,
                            problem.constraint->to_string()));
  PublicFacts facts{problem, 0, make_stream(options, Purpose::kSelection).uniform()};
  if (is_private) {
    SOTTO_ASSIGN(facts.single_release_multiplier, single_release_multiplier(problem, options));
  }
  SOTTO_ASSIGN(run.configured, run.method->configure(options.options, facts));
  if (!is_private) {
    run.epsilon_planned = kInfinity;
    return run;
  }

  const Optimizer& optimizer = *run.configured.optimizer;
  if (!options.accountant.empty()) {
    SOTTO_ASSIGN(run.accountant, find_accountant(options.accountant));
  }
  run.plan = optimizer.plan(problem, 1);
  if (!run.plan.filter.empty()) {
    SOTTO_TRY(prepare_filter(run, options));
    run.calibrate_seconds = seconds_since(begin);
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
                    "larger --epsilon or fewer steps.",
                    run.noise_multiplier,
                    problem.dimension));
  run.plan = optimizer.plan(problem, run.noise_multiplier);
  SOTTO_ASSIGN(const CanonicalEvent plan, canonical(run.plan.event));
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
  run.calibrate_seconds = seconds_since(begin);
  return run;
}

Expected<TrainResult> train(const Engine& engine,
                            const PublicProblem& problem,
                            const TrainOptions& options,
                            PreparedRun prepared,
                            Observer& observer) {
  const bool is_private = prepared.method->is_private;
  auto begin = std::chrono::steady_clock::now();
  TrainResult result;
  RunRecord& record = result.record;
  record.version = kVersion;
  record.versions = build_versions();
  record.method = prepared.method->name;
  record.privacy.is_private = is_private;
  record.privacy.delta = options.delta;
  record.privacy.neighbours = problem.relation;
  record.privacy.unit = options.unit;
  record.privacy.public_n = problem.n;
  record.privacy.insecure_seed = options.seed.has_value();
  record.privacy.unsafe_diagnostics = options.unsafe_diagnostics;
  record.dimension = problem.dimension;
  record.noise_multiplier = prepared.noise_multiplier;
  record.epsilon_budget = options.epsilon.value_or(kInfinity);
  record.epsilon_planned = prepared.epsilon_planned;
  record.calibrate_seconds = prepared.calibrate_seconds;
  record.warnings = prepared.warnings;
  for (const auto& setting : prepared.configured.settings)
    record.settings.push_back({setting.name, setting.value, setting.origin});

  const Optimizer& optimizer = *prepared.configured.optimizer;
  OptimizerResult answer;
  double evaluations = 0;
  double visits = 0;
  // Pricing, before and after, is not training.
  const auto run = [&](auto& oracle, const Ledger* ledger) -> Expected<void> {
    const auto start = std::chrono::steady_clock::now();
    const auto passes = [&] { return oracle.row_visits() / static_cast<double>(problem.n); };
    Tracer tracer(observer, passes, ledger, start);
    SOTTO_ASSIGN(answer, optimizer.run(oracle, prepared.noise_multiplier, tracer));
    record.train_seconds = seconds_since(start);
    record.trace = tracer.trace();
    record.spending = tracer.spending(answer.steps);
    return {};
  };
  if (is_private) {
    LedgerOptions granted;
    granted.budget = {options.epsilon.value_or(kInfinity), options.delta};
    granted.plan = prepared.plan.event;
    granted.filter = prepared.plan.filter;
    granted.relation = problem.relation;
    granted.planned_samples = prepared.plan.noise_samples;
    granted.accountant = prepared.accountant;
    granted.method = record.method;
    granted.journal_path = options.journal_path;
    SOTTO_ASSIGN(Ledger ledger, Ledger::open(std::move(granted)));
    PrivateOracle oracle(engine,
                         problem,
                         ledger,
                         make_stream(options, Purpose::kSampling),
                         make_stream(options, Purpose::kNoise));
    record.calibrate_seconds += seconds_since(begin);
    SOTTO_TRY(run(oracle, &ledger));
    begin = std::chrono::steady_clock::now();
    SOTTO_TRY(ledger.close());
    SOTTO_ASSIGN(record.privacy.epsilon, ledger.epsilon_spent());
    record.privacy.accountant = prepared.accountant->name();
    record.privacy.events = to_string(to_event(ledger.spent()));
    record.privacy.noise_samples = ledger.samples_spent();
    // A filter has no plan: what it granted stands in for one.
    record.plan =
        prepared.plan.filter.empty() ? to_string(prepared.plan.event) : record.privacy.events;
    evaluations = oracle.gradient_evaluations();
    visits = oracle.row_visits();
    for (const auto& [sampling, count] : oracle.drawn())
      record.drawn.push_back({to_string(sampling), count});
    record.calibrate_seconds += seconds_since(begin);
  } else {
    ExactOracle oracle(engine, problem, make_stream(options, Purpose::kSampling));
    SOTTO_TRY(run(oracle, nullptr));
    record.privacy.epsilon = kInfinity;
    evaluations = oracle.gradient_evaluations();
    visits = oracle.row_visits();
  }
  record.steps = answer.steps;
  record.stopped = answer.stopped;
  record.certificate = answer.certificate;
  if (answer.gap) record.gap = {answer.gap->gap, answer.gap->half_width, answer.gap->confidence};
  record.gradient_evaluations = evaluations;
  record.passes = visits / static_cast<double>(problem.n);
  if (options.unsafe_diagnostics) record.diagnostics = true_values(engine, problem, answer.w);
  record.finished = utc_now();
  result.w = std::move(answer.w);
  if (!result.w.allFinite())
    return fail(ErrorKind::kNoModel,
                "the run diverged: the weights are not finite. The budget is spent. Use a smaller "
                "--step-size next time.");
  return result;
}

}  // namespace sotto
