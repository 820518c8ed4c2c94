#include "sotto/audit/noise_alone.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "sotto/audit/record_checks.hpp"
#include "sotto/audit/recorded_run.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/objective/null_engine.hpp"
#include "sotto/training/train.hpp"

namespace sotto {
namespace {

using nlohmann::json;

/// Coordinates of the runs, whatever the model's number: noise treats all alike, and so many give
/// their standard deviation to 1 / sqrt(2 · 4096) = 1.1 %.
constexpr std::int64_t kCoordinates = 4096;
/// For the question whether noise passes in proportion a few will do.
constexpr std::int64_t kFew = 16;
/// A second or two; ordinary runs take a tenth.
constexpr std::int64_t kMostSteps = 20'000;
constexpr double kMostVisits = 1e8;
/// Public, and fixed: the noise that is drawn here protects nobody.
constexpr std::uint64_t kSeed = 1;

/// Sees the longest step.
class LongestStep final : public Observer {
 public:
  bool keep_going(const StepReport& report) override {
    longest = std::max(longest, report.step_size);
    return true;
  }
  double longest = 0;
};

struct NoiseRun {
  Vector w;
  double longest_step = 0;
};

/// The recorded run on nulls: its weights are made of noise alone.
Expected<NoiseRun> run_on_nulls(const RecordedRun& run,
                                const PublicProblem& problem,
                                double noise_multiplier) {
  TrainOptions options;
  options.method = run.method->name;
  options.options = run.settings;
  options.delta = run.facts.delta;
  options.noise_multiplier = noise_multiplier;
  options.seed = kSeed;
  SOTTO_ASSIGN(PreparedRun prepared, prepare(problem, options));
  const NullEngine nulls(problem.relation == Relation::kAddRemove ? 1 : std::int64_t{problem.n},
                         problem.dimension);
  LongestStep observer;
  SOTTO_ASSIGN(TrainResult result, train(nulls, problem, options, std::move(prepared), observer));
  SOTTO_TRY(result.ledger->close(kFinished));
  return NoiseRun{std::move(result.w), observer.longest};
}

std::optional<std::string> origin_of(const json& record, const char* setting) {
  for (const json& each : record["settings"])
    if (value<std::string>(each, "name") == setting) return value<std::string>(each, "origin");
  return std::nullopt;
}

double root_mean_square(const Vector& w) {
  return w.norm() / std::sqrt(static_cast<double>(w.size()));
}

/// The run's problem without anything that depends on rows, or that pulls weights back: projections
/// and thresholds only shrink differences. Refuses methods of which noise alone says nothing.
Expected<PublicProblem> problem_without_rows(const RecordedRun& run) {
  PublicProblem problem = run.facts.problem;
  problem.dimension = kCoordinates;
  problem.constraint = nullptr;
  problem.regularizer = {};
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorKind::kUsage, run.method_name + " " + why + ".");
  };
  if (!run.method) return refuse("is not a method of this program");
  if (run.facts.problem.network)
    return fail(ErrorKind::kUsage, "the weights of a network do not stand for features.");
  if (!run.method->needs.without({Capability::kGradients, Capability::kPairs}).empty())
    return refuse("steps by more than noisy gradients: by " + to_string(run.method->needs));
  const bool mirrored = std::any_of(run.method->options.begin(),
                                    run.method->options.end(),
                                    [](const OptionInfo& each) { return each.name == "mirror"; });
  if (mirrored) return refuse("measures its steps by the shape of the constraint set");
  const auto configured = run.method->configure(run.settings, run.facts);
  if (!configured) return fail(ErrorKind::kUsage, configured.error().message);
  const Plan plan = configured->optimizer->plan(run.facts.problem, run.noise_multiplier);
  if (!plan.filter.empty()) return refuse("decides on its releases by the earlier ones");
  SOTTO_ASSIGN(const CanonicalEvent event, canonical(plan.event));
  std::int64_t releases = 0;
  double visits = 0;
  bool any_number = run.facts.problem.relation != Relation::kReplaceOne;
  for (const Term& term : event.terms) {
    if (term.mechanism != Term::Mechanism::kGaussian)
      return refuse("makes a private choice, which is more than noise that is added");
    any_number = any_number && term.sampling != Term::Sampling::kFixedSize;
    releases += term.count;
    visits += static_cast<double>(term.count) * term.rate * static_cast<double>(problem.n);
  }
  // The noise of zero-out is that of add-remove, where n is a declared number and needs no units.
  if (any_number) problem.relation = Relation::kAddRemove;
  const double units = any_number ? 1 : std::max(visits, static_cast<double>(problem.n));
  if (releases <= kMostSteps && units <= kMostVisits) return problem;
  return fail(ErrorKind::kUsage,
              fmt::format("making the run again without its rows would take too long: {} releases "
                          "of batches of {:.3g} of {:.3g} units.",
                          releases,
                          visits / static_cast<double>(releases),
                          static_cast<double>(problem.n)));
}

/// Noise twice as large must move every weight twice as far: what normalizes, tests or follows the
/// noise with its settings is found so, whichever method does it.
Expected<void> check_proportion(const RecordedRun& run, PublicProblem problem) {
  problem.dimension = kFew;
  PublicFacts facts = run.facts;
  facts.problem = problem;
  if (!run.method->configure(run.settings, facts))
    return fail(
        ErrorKind::kUsage,
        run.method_name + " can't be run without its constraint set, which shapes its steps.");
  SOTTO_ASSIGN(const NoiseRun once, run_on_nulls(run, problem, run.noise_multiplier));
  SOTTO_ASSIGN(const NoiseRun twice, run_on_nulls(run, problem, 2 * run.noise_multiplier));
  if ((twice.w - 2 * once.w).norm() <= 1e-6 * twice.w.norm() && once.w.norm() > 0) return {};
  return fail(ErrorKind::kUsage,
              fmt::format("with these settings {} does not pass noise on in proportion: how far it "
                          "moves a weight depends on the rows.",
                          run.method_name));
}

/// The conditions of noise_alone.md, from public facts alone.
bool only_shrinks(const json& record, const RecordedRun& run, double longest_step) {
  const PublicProblem& problem = run.facts.problem;
  const Regularizer& r = problem.regularizer;
  if (!problem.convex() || !std::isfinite(problem.loss.sup_second) || !problem.linear_rows ||
      r.kind() == RegularizerKind::kNonconvex || run.method->needs.has(Capability::kPairs))
    return false;
  // A bound on rows that a schema has set is not in the record; what rules choose keeps to it.
  const auto R = number_in<double>(listed(record, "options", "row_norm").value_or(""));
  if (!R || !(*R > 0)) return origin_of(record, "step_size") == "rule";
  const double l2 = std::max(0.0, r.curvature(problem.dimension).highest);
  return longest_step * (problem.loss.sup_second * *R * *R + 2 * l2) <= 2;
}

}  // namespace

Expected<NoiseAlone> noise_alone(const json& record) {
  const auto relation = parse_relation(value<std::string>(record, "neighbours").value_or(""));
  if (!relation || !describes_its_run(record))
    return fail(ErrorKind::kUsage, "the record does not say how the run was made.");
  SOTTO_ASSIGN(const RecordedRun run, recorded_run(record, *relation));
  SOTTO_ASSIGN(const PublicProblem free, problem_without_rows(run));
  SOTTO_TRY(check_proportion(run, free));
  SOTTO_ASSIGN(const NoiseRun made, run_on_nulls(run, free, run.noise_multiplier));
  NoiseAlone noise;
  noise.weight = noise.intercept = root_mean_square(made.w);
  noise.bound = only_shrinks(record, run, made.longest_step);
  if (run.facts.problem.regularizer.kind() != RegularizerKind::kL2) return noise;

  PublicProblem pulled = free;
  pulled.regularizer = run.facts.problem.regularizer.on_first(Regularizer::kAll);
  SOTTO_ASSIGN(const NoiseRun shrunk, run_on_nulls(run, pulled, run.noise_multiplier));
  noise.weight = root_mean_square(shrunk.w);
  return noise;
}

}  // namespace sotto
