#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "audit_one_run.hpp"
#include "command_line.hpp"
#include "exit_codes.hpp"
#include "method_options.hpp"
#include "printer.hpp"
#include "progress.hpp"
#include "sotto/audit/audit_page.hpp"
#include "sotto/audit/method_audit.hpp"
#include "sotto/audit/score_file.hpp"
#include "sotto/core/digest.hpp"
#include "sotto/core/directed_text.hpp"
#include "sotto/core/file.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/core/stop.hpp"
#include "sotto/training/checkpoint.hpp"
#include "verbs.hpp"

namespace sotto::app {
namespace {

struct AuditArguments {
  OneRunArguments one_run;
  bool in_one_run = false;
  MethodArguments method;
  std::optional<double> epsilon;
  std::optional<double> delta;
  std::int64_t runs = 30'000;
  std::string view = "all";
  std::string canary = "direction";
  std::string neighbours = "zero-out";
  double confidence = 0.95;
  std::uint64_t seed = 1;
  std::string roc_path;
  std::string report_path;
  std::string resume_path;
  int threads = 0;
  bool json = false;
  bool quiet = false;
};

/// On made-up inputs: of the built-in networks, those that take any number of features get few.
Expected<AuditedNetwork> audited_network(const TaskOptions& task) {
  constexpr std::int64_t kFeatures = 10;
  const NetworkOptions& network = task.network;
  SOTTO_ASSIGN(const bool regression, predicts_numbers(task.loss));
  SOTTO_ASSIGN(const NamedNetwork named, named_network(network, regression));
  const std::int64_t features = builtin_features(network.model);
  const std::int64_t classes = features > 0 ? 10 : 2;
  AuditedNetwork audited;
  audited.name = network.model;
  SOTTO_ASSIGN(audited.spec,
               fitted_network(
                   network, named, features > 0 ? features : kFeatures, regression ? 0 : classes));
  Dataset names;  // of more than two classes, which have no other names
  for (std::size_t c = 0; class_count(audited.spec) > 2 && c < class_count(audited.spec); ++c)
    names.class_names.push_back(std::to_string(c));
  SOTTO_TRY(weigh_classes(audited.spec, task.class_weights, names));
  SOTTO_ASSIGN(StartWeights start, start_weights(audited.spec, network));
  audited.weights = std::move(start.all);
  return audited;
}

Expected<MethodAuditOptions> read_options(const AuditArguments& arguments) {
  if (!arguments.epsilon || !arguments.delta)
    return fail(
        ErrorKind::kUsage,
        "audit needs the claim: --epsilon and --delta, for example --epsilon 1 --delta 1e-5.");
  if (arguments.runs < 100 || arguments.runs > 100'000'000)
    return fail(
        ErrorKind::kUsage,
        fmt::format("--runs must lie between 100 and 100,000,000, but is {}.", arguments.runs));
  MethodAuditOptions options;
  options.method = arguments.method.name;
  options.options = arguments.method.given();
  options.epsilon = *arguments.epsilon;
  options.delta = *arguments.delta;
  options.confidence = arguments.confidence;
  options.seed = arguments.seed;
  SOTTO_ASSIGN(options.view, parse_view(arguments.view));
  SOTTO_ASSIGN(options.canary, parse_canary(arguments.canary));
  SOTTO_ASSIGN(options.relation, parse_relation(arguments.neighbours));
  TaskOptions task;
  SOTTO_ASSIGN(task.network, arguments.one_run.network.options());
  SOTTO_TRY(set_loss(task, arguments.one_run.loss));
  SOTTO_ASSIGN(task.class_weights, parse_class_weights(arguments.one_run.class_weights));
  if (!task.network.model.empty()) {
    SOTTO_ASSIGN(AuditedNetwork network, audited_network(task));
    options.network = std::make_shared<const AuditedNetwork>(std::move(network));
    return options;
  }
  if (task.loss.kind != LossKind::kLogistic)
    return fail(ErrorKind::kUsage,
                fmt::format("--loss {}: without --one-run a linear model is audited with the "
                            "logistic loss. Leave --loss out, or audit a run of yours.",
                            arguments.one_run.loss));
  SOTTO_TRY(weigh_classes(task.loss, task.class_weights, Dataset{}));
  options.class_weights = task.loss.weights;
  return options;
}

/// All that decides a score: scores of two audits with the same text may be mixed.
std::string describe(const MethodAuditOptions& options, const PreparedRun& run) {
  std::string text = fmt::format("{} epsilon {} delta {} {} view {} canary {} seed {}",
                                 options.method,
                                 options.epsilon,
                                 options.delta,
                                 to_string(options.relation),
                                 to_string(options.view),
                                 to_string(options.canary),
                                 options.seed);
  for (const auto& setting : run.configured.settings)
    text += fmt::format(" {} {}", setting.name, setting.value);
  if (const auto& [negative, positive] = options.class_weights;
      options.class_weights != ClassWeights{})
    text += fmt::format(" heavy canary of class weights {},{}", negative, positive);
  if (options.network)
    text += fmt::format(" network {} weights {}",
                        sha256(to_text(options.network->spec)),
                        sha256(fmt::format("{}", fmt::join(options.network->weights, " "))));
  return text;
}

/// In chunks, so that progress shows, ^C is heard and the file stays fresh.
Expected<void> collect_all(const AuditArguments& arguments,
                           const MethodAudit& audit,
                           const std::string& description,
                           Scores& scores) {
  constexpr std::int64_t kChunk = 500;
  const std::int64_t before = scores.runs();
  const bool shows = !arguments.quiet && !arguments.json && ::isatty(STDERR_FILENO) == 1;
  Progress interrupts(arguments.method.name, /*quiet=*/true);
  const auto begin = std::chrono::steady_clock::now();
  auto saved = begin;
  while (scores.runs() < arguments.runs) {
    collect(audit.trial(), std::min(arguments.runs, scores.runs() + kChunk), scores);
    const bool goes_on = !stop_requested();
    const auto now = std::chrono::steady_clock::now();
    if (shows) {
      const double elapsed = std::chrono::duration<double>(now - begin).count();
      const auto done = static_cast<double>(scores.runs() - before);
      const auto left = static_cast<double>(arguments.runs - scores.runs());
      say_to_terminal(fmt::format("\raudit of {}: {} of {} runs per world, {:.0f} s left \x1b[K",
                                  arguments.method.name,
                                  scores.runs(),
                                  arguments.runs,
                                  elapsed * left / done));
    }
    const bool last = !goes_on || scores.runs() == arguments.runs;
    if (!arguments.resume_path.empty() && (last || now - saved > std::chrono::seconds(5))) {
      SOTTO_TRY(save_scores(arguments.resume_path, description, scores));
      saved = now;
    }
    if (!goes_on) break;
  }
  if (shows) say("\n");
  return {};
}

Expected<void> write_roc(const std::string& path, const Scores& scores, const Claim& claim) {
  std::string text = "false_alarm,detected,claimed_at_most\n";
  for (const RocPoint& point : roc(scores, claim))
    text += fmt::format("{:.6g},{:.6g},{:.6g}\n", point.false_alarm, point.detected, point.claimed);
  return write_file_atomically(path, text);
}

void print_report(const AuditArguments& arguments,
                  const MethodAuditOptions& options,
                  const AuditReport& report,
                  double seconds) {
  const Judgement& judged = report.judgement;
  if (arguments.json) {
    const nlohmann::json json = {
        {"method", options.method},
        {"model", options.network ? options.network->name : "linear"},
        {"claimed", {{"epsilon", options.epsilon}, {"delta", options.delta}}},
        {"neighbours", to_string(options.relation)},
        {"lower_bound", judged.lower_bound},
        {"lower_bound_plain", judged.plain_bound},
        {"confidence", options.confidence},
        {"runs", report.runs},
        {"runs_needed", report.runs_needed},
        {"verdict", to_string(report.verdict)},
        {"view", to_string(options.view)},
        {"canary", to_string(options.canary)},
        {"curve", report.curve},
        {"false_alarms", judged.counts.false_alarms},
        {"misses", judged.counts.misses},
        {"judged", judged.counts.trials0},
        {"seconds", seconds}};
    print_json(json);
    return;
  }
  tell("{}{}: {} (claimed epsilon {} at delta {}, {})\n",
       options.method,
       options.network ? " on " + options.network->name : "",
       to_string(report.verdict),
       options.epsilon,
       options.delta,
       to_string(options.relation));
  tell(
      "epsilon is at least {} with confidence {:g} by the claimed trade-off curve ({}), "
      "{} by (epsilon, delta) alone\n",
      text_down(judged.lower_bound, 5),
      options.confidence,
      report.curve,
      text_down(judged.plain_bound, 5));
  tell(
      "{} runs per world, view {}, canary {}; the best test erred on {} of {} runs without the "
      "canary and on {} of {} with it\n",
      report.runs,
      to_string(options.view),
      to_string(options.canary),
      judged.counts.false_alarms,
      judged.counts.trials0,
      judged.counts.misses,
      judged.counts.trials1);
  if (report.verdict == Verdict::kNotEnoughPower)
    tell(
        "An epsilon {:g} times the claim would need {} runs per world to be found with "
        "probability {:g}: --runs {}\n",
        kDetectable,
        report.runs_needed,
        kPower,
        report.runs_needed);
}

/// What belongs to an audit of made-up worlds is not passed over in silence.
Expected<void> check_one_run_takes(const std::vector<Verb::Value>& values) {
  for (const auto& value : values)
    for (const char* name : {"runs", "view", "canary", "seed", "roc", "resume"})
      if (value.given && value.name == name)
        return fail(ErrorKind::kUsage,
                    fmt::format("--{} belongs to audits on made-up data. With --one-run leave it "
                                "out: one real training is audited, with fresh randomness.",
                                name));
  return {};
}

Expected<int> run_audit(AuditArguments& arguments) {
  set_thread_count(arguments.threads > 0 ? arguments.threads : thread_count());
  if (arguments.in_one_run) {
    OneRunArguments& one_run = arguments.one_run;
    one_run.train.method = arguments.method.name;
    one_run.train.options = arguments.method.given();
    one_run.train.epsilon = arguments.epsilon;
    one_run.train.delta = arguments.delta.value_or(0);
    one_run.options.confidence = arguments.confidence;
    one_run.neighbours = arguments.neighbours;
    one_run.json = arguments.json;
    one_run.quiet = arguments.quiet;
    one_run.report_path = arguments.report_path;
    return audit_one_run(one_run);
  }
  if (!arguments.one_run.data_path.empty())
    return fail(ErrorKind::kUsage,
                "audit makes its own data; a data file goes with --one-run only.");
  SOTTO_ASSIGN(const MethodAuditOptions options, read_options(arguments));
  for (const auto* path : {&arguments.roc_path, &arguments.report_path, &arguments.resume_path})
    if (!path->empty()) SOTTO_TRY(check_writable(*path));
  SOTTO_ASSIGN(const MethodAudit audit, MethodAudit::prepare(options));
  const std::string description = describe(options, audit.prepared());
  Scores scores;
  if (!arguments.resume_path.empty()) {
    SOTTO_ASSIGN(scores, load_scores(arguments.resume_path, description));
  }
  const auto begin = std::chrono::steady_clock::now();
  SOTTO_TRY(collect_all(arguments, audit, description, scores));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  if (scores.runs() < arguments.runs) {
    say("sotto: interrupted after {} of {} runs per world{}.\n",
        scores.runs(),
        arguments.runs,
        arguments.resume_path.empty() ? "; with --resume FILE they would have been kept"
                                      : "; the same command continues them");
    return kInterrupted;
  }
  SOTTO_ASSIGN(const AuditReport outcome, report(scores, audit.claim(), audit.judge_options()));
  print_report(arguments, options, outcome, took.count());
  if (!arguments.roc_path.empty()) SOTTO_TRY(write_roc(arguments.roc_path, scores, audit.claim()));
  if (!arguments.report_path.empty())
    SOTTO_TRY(write_file_atomically(
        arguments.report_path,
        audit_page(
            options, audit.prepared(), outcome, roc(scores, audit.claim()), command_words())));
  return outcome.verdict == Verdict::kContradicts ? kAuditContradicts : kSuccess;
}

}  // namespace

Action add_audit(Verb& app) {
  auto* verb = app.add_subcommand("audit", "try to break a method's privacy claim");
  auto a = std::make_shared<AuditArguments>();
  a->method.add_to(*verb);
  verb->add_option("--epsilon", a->epsilon, "the claim to attack").group("Claim");
  verb->add_option("--delta", a->delta, "the claim to attack").group("Claim");
  verb->add_word("--neighbours,--neighbors", a->neighbours, "zero-out, replace-one or add-remove")
      .show_default()
      .group("Claim");
  verb->add_option("--runs", a->runs, "runs of each of the two worlds").show_default();
  verb->add_word(
          "--view", a->view, "what the attacker sees: all released values, or the final model")
      .show_default();
  verb->add_word(
          "--canary",
          a->canary,
          "direction (alone in its feature), label-flip, or spread (against choices of vertices)")
      .show_default();
  verb->add_option("--confidence", a->confidence, "of the lower bound").show_default();
  verb->add_option("--seed", a->seed, "of the audit's own randomness").show_default();
  verb->add_output("--roc", a->roc_path, "write the ROC beside the claimed trade-off curve (CSV)");
  verb->add_output("--report", a->report_path, "write a report of the audit (HTML, one file)");
  verb->add_output("--resume", a->resume_path, "keep the scores here, and continue from them");
  verb->add_option("--threads", a->threads, "0: all cores").show_default().range(0, 1024);
  verb->add_flag("--one-run", a->in_one_run, "train once on DATA with canaries, and guess them")
      .group("One run");
  a->one_run.add_to(*verb);
  a->one_run.network.add_to(*verb);
  verb->add_flag("--json", a->json, "print one object for machines");
  verb->add_flag("-q,--quiet", a->quiet, "no progress");
  verb->offer("--neighbours", {"zero-out", "replace-one", "add-remove"});
  verb->offer("--view", {"all", "final"});
  verb->offer("--canary", {"direction", "label-flip", "spread"});
  verb->footer(R"(
Trains thousands of times on two made-up data sets that differ in one record, the canary, and tests how well
they can be told apart. If the lower bound on epsilon exceeds the claim, the claim is false (exit code 5),
up to the stated confidence.

  sotto audit --method dp-gd --epsilon 1 --delta 1e-5
  sotto audit --method dp-sgd --epsilon 1 --delta 1e-5 --view final --roc roc.csv
  sotto audit --method dp-sgd --model small.toml --epsilon 1 --delta 1e-5

With --one-run, audits one real training instead: canaries are added to DATA by coin flips, and guessed from the
released gradients. The bound is weaker, but it is about this run. A canary is a unit: a person with all of her
rows, where the schema declares persons (the made-up data sets above have one row per unit).

  sotto audit --one-run --journal audit.journal --canaries 100 --epsilon 8 --delta 1e-6 --dim 123 --row-norm 3.74 a9a.gz
  sotto audit --one-run --journal audit.journal --method dp-sgd --model mnist-cnn4 --epsilon 8 --delta 1e-5 images.gz,labels.gz)");
  return [a, verb]() -> Expected<int> {
    if (a->in_one_run)
      SOTTO_TRY(check_one_run_takes(verb->values()));
    else
      SOTTO_TRY(a->one_run.check_none_given(*verb));
    return run_audit(*a);
  };
}

}  // namespace sotto::app
