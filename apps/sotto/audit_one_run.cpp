#include "audit_one_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "command_line.hpp"
#include "exit_codes.hpp"
#include "printer.hpp"
#include "progress.hpp"
#include "run_end.hpp"
#include "sotto/audit/audit_page.hpp"
#include "sotto/core/directed_text.hpp"
#include "sotto/core/file.hpp"
#include "sotto/core/stop.hpp"
#include "sotto/task/task.hpp"

namespace sotto::app {

void OneRunArguments::add_to(Verb& verb) {
  const std::size_t before = verb.values().size();
  data.add_rows(verb, "DATA", data_path, "training data, with --one-run only");
  verb.add_output("--journal", train.journal_path, "where the charges of this training are written")
      .group("One run");
  verb.add_option("--canaries", options.canaries, "how many, each inserted by a fair coin")
      .show_default()
      .group("One run");
  verb.add_word("--loss",
                loss,
                "as in train; without --one-run logistic, multinomial, or a network's squared")
      .show_default()
      .group("One run");
  verb.add_list("--class-weight", class_weights, "as in train; also without --one-run")
      .type_name("CLASS=W")
      .group("One run");
  verb.add_word("--regularizer", regularizer, "as in train").show_default().group("One run");
  data.add_to(verb);
  data.add_most_rows(verb);
  const auto all = verb.values();
  for (std::size_t k = before; k < all.size(); ++k)
    if (all[k].name != "loss" && all[k].name != "class-weight") of_training.push_back(all[k].name);
}

Expected<void> OneRunArguments::check_none_given(const Verb& verb) const {
  for (const auto& value : verb.values())
    if (value.typed &&
        std::find(of_training.begin(), of_training.end(), value.name) != of_training.end())
      return fail(ErrorKind::kUsage,
                  fmt::format("--{} belongs to a training on your rows, with --one-run. Without it "
                              "audit makes its own data: leave the option out.",
                              value.name));
  return {};
}

namespace {

/// Stands over everything that is said of the outcome.
constexpr const char* kNotCovered =
    "not covered by any charge. This audit trained on the private rows; its journal has the price "
    "of that model, but what is said here is more than the model: it is for the data's owner "
    "alone.";

Expected<TaskOptions> task_options(const OneRunArguments& arguments) {
  TaskOptions options;
  SOTTO_ASSIGN(options.rows, arguments.data.load_options(arguments.data_path));
  SOTTO_ASSIGN(options.network, arguments.network.options());
  SOTTO_TRY(set_loss(options, arguments.loss));
  SOTTO_ASSIGN(options.class_weights, parse_class_weights(arguments.class_weights));
  SOTTO_ASSIGN(options.regularizer, Regularizer::parse(arguments.regularizer));
  SOTTO_ASSIGN(options.relation, parse_relation(arguments.neighbours));
  SOTTO_ASSIGN(const MethodInfo* method, find_method(arguments.train.method));
  options.is_private = method->is_private;
  return options;
}

}  // namespace

Expected<int> audit_one_run(const OneRunArguments& arguments) {
  if (arguments.data_path.empty() || !arguments.train.epsilon || arguments.train.delta == 0)
    return fail(ErrorKind::kUsage,
                "audit --one-run needs DATA, --epsilon and --delta, as train does.");
  if (arguments.train.journal_path.empty())
    return fail(ErrorKind::kUsage,
                "audit --one-run trains on your rows, which is charged: give --journal FILE.");
  if (!arguments.report_path.empty()) SOTTO_TRY(check_writable(arguments.report_path));
  SOTTO_ASSIGN(const TaskOptions options, task_options(arguments));
  SOTTO_ASSIGN(Task task, Task::open(options));
  SOTTO_TRY(check_row_bound(task, arguments.train));  // what `train` refuses is not audited
  const PublicProblem& problem = task.problem();
  SOTTO_ASSIGN(const Engine* engine, task.engine());
  const std::string& network = options.network.model;  // also named by the loss multinomial

  // A journal beside a model must hold what the model knows of it, as for `train`.
  TrainOptions train = arguments.train;
  train.unit = task.unit();
  train.most_rows = task.most_rows();
  constexpr std::string_view kBeside = ".journal";
  if (train.journal_path.ends_with(kBeside)) {
    const std::size_t length = train.journal_path.size() - kBeside.size();
    SOTTO_ASSIGN(train.known_lines, known_lines(train.journal_path.substr(0, length), ""));
  }

  Progress progress(
      arguments.train.method, arguments.quiet || arguments.json, arguments.train.epsilon);
  SOTTO_ASSIGN(const OneRunReport report,
               audit_in_one_run(*engine, problem, train, arguments.options, progress));
  progress.finish();
  if (report.interrupted) {
    say("sotto: interrupted. What was released until then is in {}.\n",
        arguments.train.journal_path);
    return kInterrupted;
  }

  const double claimed = report.epsilon;
  const bool contradicts = report.guess.lower_bound > claimed;
  const std::string verdict = contradicts ? "contradicts the claim" : "consistent";
  if (arguments.json) {
    print_json(
        nlohmann::json({{"method", arguments.train.method},
                        {"model", network.empty() ? "linear" : network},
                        {"claimed", {{"epsilon", claimed}, {"delta", arguments.train.delta}}},
                        {"lower_bound", report.guess.lower_bound},
                        {"confidence", arguments.options.confidence},
                        {"runs", 1},
                        {"canaries", arguments.options.canaries},
                        {"guesses", report.guess.guesses},
                        {"correct", report.guess.correct},
                        {"canary_share", report.canary_share},
                        {"canary_pull", report.canary_pull},
                        {"verdict", verdict},
                        {"private", false},
                        {"warning", kNotCovered}}));
  } else {
    tell("NOT private: {}\n", kNotCovered);
    tell("{}{}: {} (claimed epsilon {} at delta {}, zero-out)\n",
         arguments.train.method,
         network.empty() ? "" : " on " + network,
         verdict,
         text_up(claimed, 4),
         text_up(arguments.train.delta));
    tell(
        "epsilon is at least {} with confidence {:g}: {} of {} guesses right, {} of {} "
        "canaries "
        "left open\n",
        text_down(report.guess.lower_bound, 5),
        arguments.options.confidence,
        report.guess.correct,
        report.guess.guesses,
        arguments.options.canaries - report.guess.guesses,
        arguments.options.canaries);
    tell(
        "the canaries were {:.2g}% of the units and moved every mean gradient by {:.2g} clip radii "
        "(one unit moves it by at most {:.2g})\n",
        100 * report.canary_share,
        report.canary_pull,
        1 / (static_cast<double>(problem.n + arguments.options.canaries)));
  }
  if (!arguments.report_path.empty())
    SOTTO_TRY(write_file_atomically(
        arguments.report_path,
        one_run_page(arguments.train, arguments.options, report, command_words())));
  return contradicts ? kAuditContradicts : kSuccess;
}

}  // namespace sotto::app
