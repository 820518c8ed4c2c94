#include "sotto/audit/method_audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "sotto/audit/attacker.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/oracle/private_oracle.hpp"

namespace sotto {
namespace {

struct AttackOption {
  const char* name;
  const char* value;
  const char* method = nullptr;  ///< only for this one; else for all that have the option
  bool clips = false;            ///< a radius that gradients reach with class weights of 1
};
constexpr AttackOption kStrongAttack[] = {
    {"steps", "20"},
    {"step_size", "0.1"},
    {"schedule", "constant"},
    {"momentum", "0"},
    {"clip_radius", "0.25", nullptr, true},
    {"clip_max", "0.15", nullptr, true},
    {"selection", "exponential"},
    {"drawn_steps", "20", "rrpsgd"},
    // The canary's gradient changes by more than this in almost every step, so that its difference
    // is as long as a difference may be; it would be shorter by far than a bound from the step.
    {"difference_bound", "fixed"},
    {"difference_clip", "1e-6", nullptr, true},
    {"mixture", "0.5"},
    // A choice tells less of a record than its bound says, since all candidates' losses move alike:
    // it gets a small share. Many small shares, so that the filter leaves little of the budget.
    {"splits", "40"},
    {"candidates", "2", "dp-agd"},
    {"selection_share", "0.01", "dp-agd"},
};

/// Of audit_method.
constexpr std::int64_t kFewestRuns = 100;

/// Of the set for methods that need one.
constexpr double kRadius = 3;

GivenOptions with_defaults(GivenOptions given,
                           const MethodInfo& method,
                           const PublicProblem& problem) {
  const auto has = [](const auto& list, std::string_view name, auto project) {
    return std::any_of(
        list.begin(), list.end(), [&](const auto& each) { return project(each) == name; });
  };
  const auto given_name = [](const auto& option) { return option.first; };
  const auto known_name = [](const OptionInfo& option) { return option.name; };
  const bool has_epochs = has(given, "epochs", given_name);
  const auto set = [&](const char* name, const std::string& value) {
    if (has(given, name, given_name) || !has(method.options, name, known_name)) return;
    if (std::string_view(name) == "steps" && has_epochs) return;
    given.emplace_back(name, value);
  };
  // A network's gradients follow the model: it must not go far while the canary adds up.
  if (problem.network) set("step_size", "0.001");
  // Lighter rows have shorter gradients. Heavier ones are clipped all the more.
  const double lightest = std::min(1.0, problem.loss.least_weight);
  for (const auto& [name, value, only, clips] : kStrongAttack)
    if (!only || only == method.name)
      set(name, clips && lightest < 1 ? fmt::format("{}", lightest * *finite_in(value)) : value);
  set("expected_batch", std::to_string(problem.n / 10));
  return given;
}

}  // namespace

Expected<View> parse_view(std::string_view text) {
  for (const View view : {View::kAll, View::kFinal})
    if (text == to_string(view)) return view;
  return fail(
      ErrorKind::kUsage,
      fmt::format("‘view’ must be all (every released value) or final (the model), but is '{}'.",
                  text));
}

std::string_view to_string(View view) { return view == View::kAll ? "all" : "final"; }

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kConsistent:
      return "consistent";
    case Verdict::kContradicts:
      return "contradicts the claim";
    case Verdict::kNotEnoughPower:
      return "not enough power";
  }
  return "";
}

Expected<AuditReport> report(const Scores& scores,
                             const Claim& claim,
                             const JudgeOptions& options) {
  AuditReport result;
  SOTTO_ASSIGN(result.judgement, judge(scores, claim, options));
  result.runs = scores.runs();
  result.runs_needed = runs_needed(claim, options, kDetectable, kPower);
  result.curve = claim.curve();
  if (result.judgement.lower_bound > claim.epsilon())
    result.verdict = Verdict::kContradicts;
  else if (result.runs < result.runs_needed)
    result.verdict = Verdict::kNotEnoughPower;
  return result;
}

Expected<MethodAudit> MethodAudit::prepare(const MethodAuditOptions& options) {
  MethodAudit audit;
  audit.options_ = options;
  const MethodInfo* method = options.unlisted;
  if (!method) {
    SOTTO_ASSIGN(method, find_method(options.method));
  }
  if (!method->is_private)
    return fail(ErrorKind::kUsage,
                fmt::format("{} claims no privacy, so there is nothing to audit.", method->name));
  if (!(options.confidence > 0.5 && options.confidence < 1))
    return fail(ErrorKind::kUsage,
                fmt::format("‘confidence’ must lie between 0.5 and 1, but is {}. Use 0.95 or 0.99.",
                            options.confidence));
  if (options.network) {
    SOTTO_ASSIGN(Worlds worlds,
                 Worlds::of_network(options.relation, options.canary, *options.network));
    audit.worlds_ = std::make_unique<Worlds>(std::move(worlds));
  } else {
    audit.worlds_ =
        std::make_unique<Worlds>(options.relation, options.canary, 200, 10, options.class_weights);
  }
  if (method->constraints && !options.network) audit.worlds_->constrain(l1_ball(kRadius));
  TrainOptions& train = audit.train_;
  train.method = options.method;
  train.unlisted = options.unlisted;
  train.options = with_defaults(options.options, *method, audit.worlds_->problem());
  train.epsilon = options.epsilon;
  train.seed = options.seed;
  train.delta = options.delta;
  const PublicProblem& problem = audit.worlds_->problem();
  SOTTO_ASSIGN(audit.prepared_, sotto::prepare(problem, train));
  // Priced once: every run takes this price, and is still refused what is not in the plan.
  audit.price_ =
      std::make_unique<KnownPrice>(*audit.prepared_.accountant, audit.prepared_.epsilon_planned);
  if (audit.prepared_.plan.filter.empty()) audit.prepared_.accountant = audit.price_.get();
  const Optimizer& optimizer = *audit.prepared_.configured.optimizer;
  if (audit.prepared_.plan.filter.empty()) {
    SOTTO_ASSIGN(audit.claim_,
                 sharpest_claim(
                     options.epsilon,
                     options.delta,
                     [&optimizer, problem](double z) { return optimizer.plan(problem, z).event; },
                     audit.prepared_.noise_multiplier));
  } else if (audit.prepared_.plan.filter == "zcdp") {
    audit.claim_ = zcdp_claim(options.epsilon, options.delta);
  } else {
    audit.claim_ = plain_claim(options.epsilon, options.delta);
  }
  // What one run can't do, none can: the first failure is the user's to see.
  SOTTO_TRY(audit.try_run(1, -1));
  return audit;
}

Expected<double> MethodAudit::try_run(int world, std::int64_t run) const {
  SOTTO_ASSIGN(Ledger ledger, open_run(prepared_, worlds_->problem(), train_));
  const std::uint64_t instance =
      2 * static_cast<std::uint64_t>(run + 1) + static_cast<std::uint64_t>(world);
  PrivateOracle oracle(worlds_->engine(world),
                       worlds_->problem(),
                       ledger,
                       Stream::seeded(options_.seed, Purpose::kSampling, instance),
                       Stream::seeded(options_.seed, Purpose::kNoise, instance));
  const Optimizer& optimizer = *prepared_.configured.optimizer;
  NoObserver observer;
  if (options_.view == View::kFinal) {
    SOTTO_ASSIGN(const OptimizerResult result,
                 optimizer.run(oracle, prepared_.noise_multiplier, observer));
    return result.w.dot(worlds_->pull());
  }
  Attacker attacker(oracle, *worlds_);
  SOTTO_TRY(optimizer.run(attacker, prepared_.noise_multiplier, observer));
  return attacker.log_likelihood_ratio();
}

double MethodAudit::run(int world, std::int64_t run) const {
  const Expected<double> score = try_run(world, run);
  return score ? *score : std::numeric_limits<double>::quiet_NaN();
}

Expected<AuditOutcome> audit_method(const MethodAuditOptions& options, std::int64_t runs) {
  if (runs < kFewestRuns)
    return fail(ErrorKind::kUsage,
                fmt::format("an audit needs at least {} runs per world, but got {}. 30,000 find "
                            "what most attacks can find.",
                            kFewestRuns,
                            runs));
  SOTTO_ASSIGN(const MethodAudit audit, MethodAudit::prepare(options));
  Scores scores;
  collect(audit.trial(), runs, scores);
  SOTTO_ASSIGN(const AuditReport found, report(scores, audit.claim(), audit.judge_options()));
  return AuditOutcome{found.verdict, found.judgement.lower_bound, found.runs, found.runs_needed};
}

}  // namespace sotto
