#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "account_extras.hpp"
#include "exit_codes.hpp"
#include "printer.hpp"
#include "sotto/core/directed_text.hpp"
#include "sotto/core/file_identity.hpp"
#include "sotto/core/file_kind.hpp"
#include "sotto/core/option_names.hpp"
#include "sotto/core/stop.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/privacy/journal.hpp"
#include "sotto/privacy/number_json.hpp"
#include "sotto/privacy/seed_mark.hpp"
#include "sotto/privacy/together.hpp"
#include "together_text.hpp"
#include "verbs.hpp"

namespace sotto::app {
namespace {

struct AccountArguments {
  std::string event;
  std::string neighbours;
  std::vector<std::string> journals;
  std::string journal_key;
  std::string accountant;
  std::optional<double> delta;
  std::optional<double> epsilon;
  bool json = false;
  bool curve = false;
  std::string html;
  std::string formula;
  study::FormulaInputs inputs;
  bool fixed_size = false;
};

/// One accountant's answer, with the time that it took.
struct Priced {
  std::string name;
  Interval interval;
  double ms;
};

Expected<Priced> price(const Accountant& accountant,
                       const CanonicalEvent& event,
                       const AccountArguments& arguments) {
  const auto begin = std::chrono::steady_clock::now();
  SOTTO_ASSIGN(const Interval interval,
               arguments.delta ? accountant.epsilon(event, *arguments.delta)
                               : accountant.delta(event, *arguments.epsilon));
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
  return Priced{std::string(accountant.name()), interval, time.count()};
}

Expected<std::vector<Priced>> price_all(const CanonicalEvent& event,
                                        const AccountArguments& arguments) {
  std::vector<Priced> answers;
  if (arguments.accountant == "all") {
    for (const Accountant* accountant : accountants()) {
      if (!accountant->supports(event)) continue;
      SOTTO_ASSIGN(Priced priced, price(*accountant, event, arguments));
      answers.push_back(std::move(priced));
    }
    if (answers.empty()) SOTTO_TRY(tightest_accountant(event));
    return answers;
  }
  const Accountant* accountant = nullptr;
  if (arguments.accountant.empty()) {
    SOTTO_ASSIGN(accountant, tightest_accountant(event));
  } else {
    SOTTO_ASSIGN(accountant, find_accountant(arguments.accountant));
  }
  SOTTO_ASSIGN(Priced priced, price(*accountant, event, arguments));
  answers.push_back(std::move(priced));
  return answers;
}

void print_answers(const Event& event,
                   const AccountArguments& arguments,
                   const std::vector<Priced>& answers) {
  const std::string unknown = arguments.delta ? "epsilon" : "delta";
  if (arguments.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& [name, interval, ms] : answers)
      list.push_back({{"name", name},
                      {unknown + "_lower", number_or_null(interval.lower)},
                      {unknown + "_upper", number_or_null(interval.upper)},
                      {"ms", ms}});
    nlohmann::json result = {
        {"event", to_string(event)}, {"neighbours", arguments.neighbours}, {"accountants", list}};
    result[arguments.delta ? "delta" : "epsilon"] =
        arguments.delta ? *arguments.delta : *arguments.epsilon;
    print_json(result);
    return;
  }
  tell("{} ({}), {} {}\n",
       to_string(event),
       arguments.neighbours,
       arguments.delta ? "delta" : "epsilon",
       arguments.delta ? *arguments.delta : *arguments.epsilon);
  tell("{:<11} {:>14} {:>14} {:>10}\n", "accountant", unknown + " <=", "and >=", "ms");
  for (const auto& [name, interval, ms] : answers)
    tell("{:<11} {:>14} {:>14} {:>10.3f}\n",
         name,
         text_up(interval.upper, 8),
         interval.lower > 0 ? text_down(interval.lower, 8) : "-",
         ms);
}

nlohmann::json to_json(const Expected<TogetherPrice>& together) {
  if (!together) return {{"epsilon_upper", nullptr}, {"why", with_flags(together.error().message)}};
  nlohmann::json json = {{"epsilon_upper", number_or_null(together->epsilon)},
                         {"delta", together->delta},
                         {"neighbours", to_string(together->relation)},
                         {"runs", together->paid},
                         {"assumes", kIfPlanned},
                         {"sum",
                          {{"epsilon_upper", number_or_null(together->sum.epsilon)},
                           {"delta", together->sum.delta},
                           {"assumes", kIfLimited}}}};
  if (together->samplers_limit) json["why"] = samplers_text(*together);
  state_private(json, true, together->seeded);
  return json;
}

void print_together(const Expected<TogetherPrice>& together) {
  if (!together) {
    tell("together: not told. {}\n", with_flags(together.error().message));
    return;
  }
  tell("together: {}. {}\n", joint_text(*together), kIfPlanned);
  if (const std::string why = samplers_text(*together); !why.empty()) tell("  {}\n", why);
  if (together->paid > 1)
    tell("for runs chosen after looking: {} (the sum). {}\n", sum_text(*together), kIfLimited);
}

/// One run: a line, or an object of the list.
Expected<void> price_run(const JournalRun& run,
                         const AccountArguments& arguments,
                         nlohmann::json& list) {
  SOTTO_ASSIGN(const CanonicalEvent event, canonical(Event::compose(run.charged)));
  const Promise& promise = run.promise;
  const double delta = arguments.delta.value_or(promise.budget.delta);
  SOTTO_ASSIGN(const double epsilon, price(run, delta));
  const std::string events = event.terms.empty() ? "nothing" : to_string(to_event(event));
  if (arguments.json) {
    list.push_back({{"method", run.method},
                    {"closed", run.closed},
                    {"rule", to_string(promise.rule)},
                    {"events", events},
                    {"neighbours", to_string(run.relation)},
                    {"delta", delta},
                    {"epsilon_upper", number_or_null(epsilon)},
                    {"restated", run.states_no_rule}});
    state_private(list.back(), true, run.seeded);
    if (promise.rule == PriceRule::kPlan) list.back()["plan"] = to_string(to_event(promise.plan));
    return {};
  }
  tell("{}: epsilon {}{} at delta {} ({}), the price of its {}; {} {}\n",
       run.method,
       text_up(epsilon),
       seed_mark(run.seeded),
       text_up(delta),
       to_string(run.relation),
       promise.rule == PriceRule::kFilter ? "filter's budget"
                                          : "plan " + to_string(to_event(promise.plan)),
       run.closed ? "it released" : "it was KILLED and released at most",
       events);
  return {};
}

Expected<void> check_is_no_model(const std::string& path) {
  const auto kind = kind_at(path);
  if (!kind || *kind != FileKind::kModel) return {};
  return fail(
      ErrorKind::kUsage,
      fmt::format("{0} is a model. The journal of a model that `train` wrote there is {0}.journal.",
                  path));
}

/// A run that is counted twice costs more than it did.
Expected<void> check_journals_differ(const std::vector<std::string>& journals) {
  for (auto one = journals.begin(); one != journals.end(); ++one) {
    SOTTO_ASSIGN(const auto here, identity_at(*one));
    for (auto other = journals.begin(); here && other != one; ++other) {
      SOTTO_ASSIGN(const auto there, identity_at(*other));
      if (there && there->same_file(*here))
        return fail(
            ErrorKind::kUsage,
            fmt::format(
                "{} and {} are the same journal. Name it once: its runs were paid for once.",
                *other,
                *one));
    }
  }
  return {};
}

Expected<int> account_journals(const AccountArguments& arguments) {
  SOTTO_TRY(check_journals_differ(arguments.journals));
  SOTTO_ASSIGN(const std::string key, read_journal_key(arguments.journal_key));
  std::vector<JournalRun> all;
  nlohmann::json list = nlohmann::json::array();
  for (const std::string& path : arguments.journals) {
    SOTTO_TRY(check_is_no_model(path));
    SOTTO_ASSIGN(const std::vector<JournalRun> runs, read_journal(path, key));
    if (runs.empty()) return fail(ErrorKind::kBadData, fmt::format("{} holds no run.", path));
    if (arguments.journals.size() > 1 && !arguments.json) tell("{}\n", path);
    for (const JournalRun& run : runs) {
      if (stop_requested()) return stopped_early();
      SOTTO_TRY(price_run(run, arguments, list));
      if (arguments.json) list.back()["journal"] = path;
    }
    all.insert(all.end(), runs.begin(), runs.end());
  }
  if (std::any_of(all.begin(), all.end(), [](const auto& run) { return run.states_no_rule; }))
    say("warning: version 0.1 wrote this journal and would have priced what had happened by "
        "the time that a run ended; here it is priced by what was promised. What its models "
        "may tell beside that: docs/advisories/2026-11-models-of-0.1.md.\n");
  const auto together = price_together(all, arguments.delta);
  if (arguments.json)
    print_json(nlohmann::json({{"runs", list}, {"together", to_json(together)}}));
  else if (all.size() > 1)
    print_together(together);
  return kSuccess;
}

Expected<int> formula(const AccountArguments& arguments) {
  study::FormulaInputs inputs = arguments.inputs;
  if (!arguments.delta || !arguments.epsilon)
    return fail(
        ErrorKind::kUsage,
        "--formula needs the paper's target: --epsilon and --delta, and --n, --steps and, where "
        "the method samples, --batch.");
  inputs.epsilon = *arguments.epsilon;
  inputs.delta = *arguments.delta;
  if (!arguments.neighbours.empty()) {
    SOTTO_ASSIGN(inputs.relation, parse_relation(arguments.neighbours));
  }
  if (arguments.fixed_size) inputs.sampling = Sampling::Kind::kFixedSize;
  return account_formula(arguments.formula, inputs, arguments.json);
}

Expected<int> account(const AccountArguments& arguments) {
  if (!arguments.journals.empty()) return account_journals(arguments);
  if (!arguments.formula.empty()) return formula(arguments);
  if (arguments.event.empty())
    return fail(ErrorKind::kUsage,
                "account needs --event, for example --event 'repeat(1000, poisson(0.01, "
                "gaussian(1.1)))', or --journal FILE.");
  if (arguments.neighbours.empty())
    return fail(
        ErrorKind::kUsage,
        "account needs --neighbours zero-out, replace-one or add-remove: a noise multiplier "
        "means nothing without it.");
  if (!arguments.curve && arguments.delta.has_value() == arguments.epsilon.has_value())
    return fail(ErrorKind::kUsage, "give --delta (and get epsilon) or --epsilon (and get delta).");
  if (arguments.delta && !(*arguments.delta >= 0 && *arguments.delta < 1))
    return fail(ErrorKind::kUsage,
                fmt::format("delta must lie in [0, 1), but is {}. Set --delta well below 1/n, for "
                            "example 1e-6.",
                            *arguments.delta));
  if (arguments.epsilon && !(std::isfinite(*arguments.epsilon) && *arguments.epsilon >= 0))
    return fail(ErrorKind::kUsage,
                fmt::format("epsilon must be finite and >= 0, but is {}.", *arguments.epsilon));
  SOTTO_ASSIGN(const Relation relation, parse_relation(arguments.neighbours));
  SOTTO_ASSIGN(const Event event, parse_event(arguments.event, relation));
  if (arguments.curve)
    return account_curve(event, arguments.neighbours, arguments.epsilon, arguments.html);
  SOTTO_ASSIGN(const CanonicalEvent terms, canonical(event));
  SOTTO_ASSIGN(const std::vector<Priced> answers, price_all(terms, arguments));
  print_answers(event, arguments, answers);
  return kSuccess;
}

}  // namespace

Action add_account(Verb& app) {
  auto* verb =
      app.add_subcommand("account", "what a release costs: epsilon at delta, or delta at epsilon");
  auto arguments = std::make_shared<AccountArguments>();
  verb->add_word(
      "--event",
      arguments->event,
      "what is released, e.g. 'repeat(1000, poisson(0.01, gaussian(1.1)))'.\n"
      "Parts: gaussian(z) laplace(z) exponential(epsilon) sparse_vector(epsilon) non_private\n"
      "poisson(q, E) fixed_size(b, n, E) repeat(k, E) compose(E, E, ...); z is noise / "
      "sensitivity");
  verb->add_word(
      "--neighbours,--neighbors", arguments->neighbours, "zero-out, replace-one or add-remove");
  verb->add_option("--delta", arguments->delta, "get epsilon at this delta");
  verb->add_option("--epsilon", arguments->epsilon, "get delta at this epsilon");
  verb->add_word("--accountant",
                 arguments->accountant,
                 "gaussian, zcdp, rdp, pld, or all; default: the tightest that applies");
  verb->add_input("--journal-key", arguments->journal_key, "the key file that it is sealed with");
  verb->add_inputs("--journal",
                   arguments->journals,
                   "price the runs that journals tell of, each by its plan or its filter's budget, "
                   "whenever it ended, and all of them together");
  verb->add_flag("--json", arguments->json, "one object for machines");
  verb->add_flag("--curve",
                 arguments->curve,
                 "delta over epsilon (up to --epsilon) and the trade-off function, as JSON")
      .group("Curve");
  verb->add_output("--html", arguments->html, "with --curve: write a page with charts here instead")
      .group("Curve");
  verb->add_word(
          "--formula",
          arguments->formula,
          "what the noise printed in a paper spends: dp-gd, dp-pgd, dp-tr, dp-str, opt, dp-srm, "
          "adp-sgd,\nrrpsgd or dp-fw-l1; with --epsilon --delta --n --steps [--batch]")
      .group("Formula");
  verb->add_option("--n", arguments->inputs.n, "records").group("Formula");
  verb->add_option("--steps", arguments->inputs.steps, "steps T").group("Formula");
  verb->add_option("--batch", arguments->inputs.batch, "records per batch").group("Formula");
  verb->add_option("--clip-radius,--clip",
                   arguments->inputs.clip_radius,
                   "G, the bound on one record's gradient")
      .show_default()
      .group("Formula");
  verb->add_option("--constant", arguments->inputs.constant, "dp-gd: the c that no paper states")
      .show_default()
      .group("Formula");
  verb->add_option(
          "--beta", arguments->inputs.beta, "dp-srm: the share of epsilon in its conversion")
      .show_default()
      .group("Formula");
  verb->add_flag("--line-search", arguments->inputs.line_search, "opt: with its line search")
      .group("Formula");
  verb->add_flag(
          "--fixed-size", arguments->fixed_size, "price sampled methods with fixed-size batches")
      .group("Formula");
  verb->if_too_many("A journal is named with --journal FILE.");
  verb->offer("--neighbours", {"zero-out", "replace-one", "add-remove"});
  verb->offer("--accountant", {"gaussian", "zcdp", "rdp", "pld", "all"});
  verb->footer(R"(
  sotto account --event 'repeat(1000, poisson(0.01, gaussian(1.1)))' --neighbours zero-out --delta 1e-6
  sotto account --journal model.json.journal
  sotto account --journal first.json.journal second.json.journal      each run, and all of them together
  sotto account --curve --html curve.html --event 'gaussian(2)' --neighbours zero-out

docs/reference/accounting.md says which accountant prices what, and what the total of several runs means.)");
  return [arguments] { return account(*arguments); };
}

}  // namespace sotto::app
