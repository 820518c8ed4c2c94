#include "sotto/training/train.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "sotto/core/digest.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/core/reserve.hpp"
#include "sotto/core/stop.hpp"
#include "sotto/core/version.hpp"
#include "sotto/oracle/exact_oracle.hpp"
#include "sotto/oracle/private_oracle.hpp"
#include "sotto/training/checkpointer.hpp"
#include "sotto/training/measures.hpp"
#include "sotto/training/run_facts.hpp"
#include "sotto/training/run_parts.hpp"
#include "sotto/training/tracer.hpp"

namespace sotto {
namespace {

/// More than a run's trace, spending and privacy statement take.
constexpr std::size_t kReservedBytes = std::size_t{1} << 22;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// What the ledger must know of the run that is continued.
Expected<LedgerResume> ledger_resume(const Checkpoint& checkpoint, const PublicProblem& problem) {
  SOTTO_ASSIGN(const Event kept, parse_event(checkpoint.spent, problem.relation));
  LedgerResume resume;
  SOTTO_ASSIGN(resume.kept, canonical(kept));
  resume.kept_samples = checkpoint.samples;
  resume.head = checkpoint.head;
  return resume;
}

/// What makes a run's name its own. Of a seeded run, whose files are the same each time: its seed
/// and everything else that is public.
std::string nonce_of(const PreparedRun& run,
                     const PublicProblem& problem,
                     const TrainOptions& options) {
  if (options.seed) {
    std::string text;
    for (const auto& [name, value] : facts_of(problem, options, run))
      text += fmt::format("{} {}\n{} {}\n", name.size(), name, value.size(), value);
    return sha256(text);
  }
  Stream stream = Stream::secure(Purpose::kSelection);
  const std::uint64_t first = stream.next();
  return fmt::format("{:016x}{:016x}", first, stream.next());
}

std::int64_t releases_of(const CanonicalEvent& event) {
  std::int64_t count = 0;
  for (const Term& term : event.terms) count += term.count;
  return count;
}

/// What the run spent, as its ledger tells it. Twice is as good as once.
void describe_spending(RunRecord& record, const PreparedRun& run, const Ledger& ledger) {
  const bool filtered = !run.plan.filter.empty();
  record.privacy.epsilon = ledger.price();
  record.privacy.rule = to_string(filtered ? PriceRule::kFilter : PriceRule::kPlan);
  record.privacy.accountant = run.accountant->name();
  record.privacy.events = to_string(to_event(ledger.spent()));
  record.privacy.noise_samples = ledger.samples_spent();
  // A filter has no plan: what it granted stands in for one.
  record.plan = filtered ? record.privacy.events : to_string(run.plan.event);
  record.planned_samples = run.plan.noise_samples;
  const CanonicalEvent lost = ledger.lost();
  if (!lost.terms.empty()) record.lost = to_string(to_event(lost));
  if (!ledger.options().journal_path.empty())
    record.privacy.journal = {ledger.options().run, ledger.journal_head()};
}

std::string lost_warning(const Ledger& ledger, const OptimizerResult& answer) {
  return fmt::format(
      "{} releases had been paid for when the run was interrupted and were lost; they count, and "
      "the steps were paid for again{}.",
      releases_of(ledger.lost()),
      answer.stopped == StopReason::kBudgetSpent
          ? fmt::format(", so that the budget was spent after {} steps", answer.steps)
          : "");
}

/// What claims of sensitivity take for granted. Readers of files see to it; a program's own rows
/// (Task::of) are looked at here, before anything is opened or charged.
Expected<void> check_rows(const Engine& engine, const PublicProblem& problem) {
  if (!problem.linear_rows || engine.is_linear_within(row_bound(problem))) return {};
  return fail(ErrorKind::kBadData,
              "a row is longer than the declared bound on rows, has a number that is not finite, "
              "or (where there are two classes) a label other than -1 and 1. Nothing was released. "
              "Let the table be built with the bound, so that longer rows are scaled to it.");
}

}  // namespace

Expected<Ledger> open_run(const PreparedRun& run,
                          const PublicProblem& problem,
                          const TrainOptions& options) {
  LedgerOptions granted;
  granted.budget = {options.epsilon.value_or(kInfinity), options.delta};
  granted.plan = run.plan.event;
  granted.filter = run.plan.filter;
  granted.relation = problem.relation;
  granted.planned_samples = run.plan.noise_samples;
  granted.accountant = run.accountant;
  granted.method = run.method->name;
  granted.units = problem.n;
  granted.seeded = options.seed.has_value();
  granted.unit = options.unit;
  granted.unsafe_diagnostics = options.unsafe_diagnostics;
  granted.journal_path = options.journal_path;
  granted.journal_key = options.journal_key;
  granted.known_lines = options.known_lines;
  granted.journal_condition = options.journal_condition;
  granted.nonce = nonce_of(run, problem, options);
  if (run.resumed) {
    granted.run = run.resumed->run;
    SOTTO_ASSIGN(granted.resume, ledger_resume(*run.resumed, problem));
  }
  return Ledger::open(std::move(granted));
}

Expected<TrainResult> train(const Engine& engine,
                            const PublicProblem& problem,
                            const TrainOptions& options,
                            PreparedRun prepared,
                            Observer& observer) {
  SOTTO_TRY(check_needs(*prepared.method, problem, engine.offers()));
  SOTTO_TRY(check_rows(engine, problem));
  const bool is_private = prepared.method->is_private;
  TrainResult result;
  RunRecord& record = result.record;
  record.version = kVersion;
  record.versions = build_versions();
  record.method = prepared.method->name;
  record.privacy.is_private = is_private;
  record.privacy.delta = options.delta;
  record.privacy.neighbours = problem.relation;
  record.privacy.unit = options.unit;
  record.privacy.most_rows = options.most_rows;
  record.privacy.public_n = problem.n;
  record.privacy.insecure_seed = options.seed.has_value();
  record.privacy.unsafe_diagnostics = options.unsafe_diagnostics;
  record.dimension = problem.dimension;
  record.noise_multiplier = prepared.noise_multiplier;
  record.epsilon_budget = options.epsilon.value_or(kInfinity);
  record.epsilon_planned = prepared.epsilon_planned;
  record.settings = prepared.configured.settings;

  // For what is written down once the budget is spent; now it is not.
  Reserve reserve(kReservedBytes);
  const Optimizer& optimizer = *prepared.configured.optimizer;
  OptimizerResult answer;
  double evaluations = 0;
  double visits = 0;
  const auto run = [&](auto& oracle, Ledger* ledger) -> Expected<void> {
    Tracer tracer(
        observer, [&] { return oracle.row_visits(); }, problem.n, ledger);
    const Archived around = [&](Archive& state) { state("oracle", oracle)("trace", tracer); };
    Checkpoint frame;
    frame.run = ledger ? ledger->options().run : "";
    frame.coin = prepared.coin;
    frame.facts = prepared.facts;
    Checkpointer checkpointer(tracer,
                              options.checkpoint,
                              *prepared.checkpoint,
                              std::move(frame),
                              around,
                              ledger,
                              prepared.resumed.get(),
                              problem.dimension);
    Observer& watcher =
        options.checkpoint.path.empty() ? static_cast<Observer&>(tracer) : checkpointer;
    const auto begin = std::chrono::steady_clock::now();
    SOTTO_ASSIGN(answer, optimizer.run(oracle, prepared.noise_multiplier, watcher));
    result.seconds = seconds_since(begin);
    SOTTO_TRY(checkpointer.stopped());
    result.interrupted = tracer.stopped();
    reserve.spend_on([&] {
      record.warnings = prepared.warnings;
      if (!checkpointer.trouble().empty()) record.warnings.push_back(checkpointer.trouble());
      record.trace = tracer.trace();
      record.spending = tracer.spending(answer.steps);
    });
    return {};
  };
  if (is_private) {
    // A run that is asked to stop now has not cost anything yet.
    if (stop_requested()) return stopped_early();
    SOTTO_ASSIGN(Ledger opened, open_run(prepared, problem, options));
    if (stop_requested()) {
      SOTTO_TRY(opened.close(kEndedEarly));
      return stopped_early();
    }
    const auto shared = std::make_shared<Ledger>(std::move(opened));
    Ledger& ledger = *shared;
    PrivateOracle oracle(engine,
                         problem,
                         ledger,
                         make_stream(options, Purpose::kSampling),
                         make_stream(options, Purpose::kNoise));
    SOTTO_TRY(run(oracle, &ledger));
    // A finished run is closed once its model is kept.
    if (result.interrupted) SOTTO_TRY(ledger.close(kEndedEarly));
    reserve.spend_on([&] {
      describe_spending(record, prepared, ledger);
      record.drawn.clear();
      for (const auto& [sampling, count] : oracle.drawn())
        record.drawn.push_back({to_string(sampling), count});
    });
    if (!record.lost.empty())
      reserve.spend_on([&] { record.warnings.push_back(lost_warning(ledger, answer)); });
    evaluations = oracle.gradient_evaluations();
    visits = oracle.row_visits();
    result.ledger = shared;
  } else {
    ExactOracle oracle(engine, problem, make_stream(options, Purpose::kSampling));
    SOTTO_TRY(run(oracle, nullptr));
    record.privacy.epsilon = kInfinity;
    evaluations = oracle.gradient_evaluations();
    visits = oracle.row_visits();
  }
  record.steps = answer.steps;
  record.stopped = answer.stopped;
  record.certificate = std::move(answer.certificate);
  if (answer.gap) record.gap = {answer.gap->gap, answer.gap->half_width, answer.gap->confidence};
  record.gradient_evaluations = evaluations;
  record.passes = visits / static_cast<double>(problem.n);
  if (options.unsafe_diagnostics)
    reserve.spend_on([&] { record.diagnostics = true_values(engine, problem, answer.w); });
  if (!result.interrupted && answer.w.size() != problem.dimension) {
    if (result.ledger) SOTTO_TRY(result.ledger->close(kFinished));
    return fail(ErrorKind::kNoModel,
                fmt::format("{} returned {} weights where the model has {}. What it released is "
                            "charged.",
                            prepared.method->name,
                            answer.w.size(),
                            problem.dimension));
  }
  result.w = std::move(answer.w);
  result.checkpoint = std::move(prepared.checkpoint);
  if (!result.w.allFinite()) {
    if (result.ledger) SOTTO_TRY(result.ledger->close(kFinished));
    return fail(ErrorKind::kNoModel,
                fmt::format("the run diverged: the weights are not finite.{} Use a smaller "
                            "‘step_size’ next time.",
                            is_private ? " The budget is spent." : ""));
  }
  return result;
}

}  // namespace sotto
