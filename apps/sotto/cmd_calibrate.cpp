#include <fmt/format.h>

#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "exit_codes.hpp"
#include "method_options.hpp"
#include "printer.hpp"
#include "sotto/core/directed_text.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/privacy/calibrate.hpp"
#include "sotto/task/task.hpp"
#include "verbs.hpp"

namespace sotto::app {
namespace {

struct CalibrateArguments {
  MethodArguments method;
  std::int64_t n = 0;
  std::int64_t dim = 1;
  std::string neighbours;
  std::string event;
  double epsilon = 0;
  double delta = 0;
  std::string accountant;
  bool json = false;
};

/// `gaussian(z)` and the like: the free multiplier is the letter z.
Expected<Event> with_multiplier(const std::string& text, double z, Relation relation) {
  std::string filled;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const bool alone =
        text[k] == 'z' && (k == 0 || !std::isalpha(static_cast<unsigned char>(text[k - 1]))) &&
        (k + 1 == text.size() || !std::isalpha(static_cast<unsigned char>(text[k + 1])));
    filled += alone ? fmt::format("{}", z) : std::string(1, text[k]);
  }
  return parse_event(filled, relation).map_error([&](Error error) {
    if (filled != text)
      error.message = fmt::format(
          "z stands for the noise multiplier, which may be any positive number, as in "
          "'repeat(1000, gaussian(z))', but z = {} gives no event: {}",
          z,
          error.message);
    return error;
  });
}

/// A method that chooses its releases as it runs has no single multiplier to find: its filter
/// divides the budget among the releases that it meets, and all of the budget counts as spent.
int explain_filter(const CalibrateArguments& arguments,
                   Relation relation,
                   const std::string& filter) {
  if (arguments.json) {
    print_json(nlohmann::json({{"noise_multiplier", nullptr},
                               {"filter", filter},
                               {"neighbours", to_string(relation)},
                               {"epsilon_upper", arguments.epsilon},
                               {"epsilon", arguments.epsilon},
                               {"delta", arguments.delta}}));
    return kSuccess;
  }
  tell(
      "{} has no single noise multiplier: it chooses the noise of each release as it runs, and the "
      "{} filter refuses the first one that would exceed the budget.\n",
      arguments.method.name,
      filter);
  tell("a run spends epsilon {} of {} at delta {}, whatever it chooses ({} filter)\n",
       arguments.epsilon,
       arguments.epsilon,
       arguments.delta,
       filter);
  return kSuccess;
}

Expected<int> calibrate(const CalibrateArguments& arguments) {
  if (arguments.neighbours.empty())
    return fail(
        ErrorKind::kUsage,
        "calibrate needs --neighbours zero-out, replace-one or add-remove: a noise multiplier "
        "means nothing without it.");
  SOTTO_ASSIGN(const Relation relation, parse_relation(arguments.neighbours));
  const Target target{arguments.epsilon, arguments.delta};
  SOTTO_TRY(check(target));
  const Accountant* accountant = nullptr;
  if (!arguments.accountant.empty()) {
    SOTTO_ASSIGN(accountant, find_accountant(arguments.accountant));
  }

  double z = 0;
  Event event = Event::compose({});
  if (!arguments.event.empty()) {
    SOTTO_ASSIGN(const Event at_one, with_multiplier(arguments.event, 1, relation));
    SOTTO_ASSIGN(const Event at_two, with_multiplier(arguments.event, 2, relation));
    if (to_string(at_one) == to_string(at_two))
      return fail(ErrorKind::kUsage,
                  "the event has no free parameter: write z for the noise multiplier, for example "
                  "'repeat(1000, gaussian(z))'.");
    const auto family = [&](double value) {
      return with_multiplier(arguments.event, value, relation);
    };
    SOTTO_ASSIGN(z, calibrate_noise(family, target, accountant));
    SOTTO_ASSIGN(event, family(z));
  } else {
    if (arguments.n < 1)
      return fail(ErrorKind::kUsage,
                  "calibrate --method needs --n, the number of units (rows or persons).");
    TaskOptions declared;
    declared.rows.dim = arguments.dim;
    declared.rows.bias = true;   // as `train` counts unless told otherwise
    declared.rows.row_norm = 1;  // multipliers don't depend on it
    declared.public_n = arguments.n;
    declared.relation = relation;
    SOTTO_ASSIGN(const Task task, Task::declare(declared));
    TrainOptions options;
    options.method = arguments.method.name;
    options.options = arguments.method.given();
    options.epsilon = arguments.epsilon;
    options.delta = arguments.delta;
    options.accountant = arguments.accountant;
    SOTTO_ASSIGN(const PreparedRun run, prepare(task, options));
    if (!run.plan.filter.empty()) return explain_filter(arguments, relation, run.plan.filter);
    z = run.noise_multiplier;
    event = run.plan.event;
    accountant = run.accountant;
  }
  SOTTO_ASSIGN(const CanonicalEvent terms, canonical(event));
  if (!accountant) {
    SOTTO_ASSIGN(accountant, tightest_accountant(terms));
  }
  SOTTO_ASSIGN(const double epsilon, accountant->epsilon_upper(terms, arguments.delta));
  if (arguments.json) {
    print_json(nlohmann::json({{"noise_multiplier", z},
                               {"event", to_string(event)},
                               {"neighbours", to_string(relation)},
                               {"accountant", accountant->name()},
                               {"epsilon_upper", epsilon},
                               {"epsilon", arguments.epsilon},
                               {"delta", arguments.delta}}));
    return kSuccess;
  }
  tell("noise multiplier {} (noise / sensitivity; sensitivity is {} clip radius under {})\n",
       text_up(z, 8),
       relation == Relation::kReplaceOne ? "twice the" : "the",
       to_string(relation));
  tell("{} spends epsilon {} of {} at delta {} ({})\n",
       to_string(event),
       text_up(epsilon, 8),
       arguments.epsilon,
       arguments.delta,
       accountant->name());
  return kSuccess;
}

}  // namespace

Action add_calibrate(Verb& app) {
  auto* verb = app.add_subcommand("calibrate", "the smallest noise that meets (epsilon, delta)");
  auto arguments = std::make_shared<CalibrateArguments>();
  arguments->method.add_to(*verb);
  verb->add_word(
      "--event",
      arguments->event,
      "instead of a method: an event with z for the multiplier, e.g. 'repeat(100, gaussian(z))'");
  verb->add_option("--n", arguments->n, "number of units (rows or persons)");
  verb->add_option(
      "--dim", arguments->dim, "number of features; only rules for open settings look at it");
  verb->add_word(
      "--neighbours,--neighbors", arguments->neighbours, "zero-out, replace-one or add-remove");
  verb->add_option("--epsilon", arguments->epsilon, "target").required();
  verb->add_option("--delta", arguments->delta, "target").required();
  verb->add_word("--accountant",
                 arguments->accountant,
                 "gaussian, zcdp, rdp or pld; default: the tightest that applies");
  verb->add_flag("--json", arguments->json, "one object for machines");
  verb->offer("--neighbours", {"zero-out", "replace-one", "add-remove"});
  verb->offer("--accountant", {"gaussian", "zcdp", "rdp", "pld"});
  verb->footer(R"(
The noise that `train` would take, or that of a release of your own. No rows are needed.

  sotto calibrate --method dp-sgd --n 60000 --epsilon 3 --delta 1e-6 --neighbours zero-out --steps 500 --batch 600
  sotto calibrate --event 'repeat(1000, gaussian(z))' --epsilon 1 --delta 1e-6 --neighbours zero-out)");
  return [arguments] { return calibrate(*arguments); };
}

}  // namespace sotto::app
