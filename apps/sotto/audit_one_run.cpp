#include "audit_one_run.hpp"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "command_line.hpp"
#include "exit_codes.hpp"
#include "progress.hpp"
#include "sotto/audit/audit_page.hpp"
#include "sotto/core/file.hpp"
#include "sotto/objective/glm.hpp"

namespace sotto::app {

void OneRunArguments::add_to(CLI::App& verb) {
  verb.add_option("DATA", data_path, "training data, with --one-run only");
  verb.add_option("--canaries", options.canaries, "how many, each inserted by a fair coin")
      ->capture_default_str()
      ->group("One run");
  verb.add_option("--loss", loss, "as in train")->capture_default_str()->group("One run");
  verb.add_option("--regularizer", regularizer, "as in train")
      ->capture_default_str()
      ->group("One run");
  data.add_to(verb);
}

Expected<int> audit_one_run(const OneRunArguments& arguments) {
  if (arguments.data_path.empty() || !arguments.train.epsilon || arguments.train.delta == 0)
    return fail(ErrorKind::kUsage,
                "audit --one-run needs DATA, --epsilon and --delta, as train does.");
  if (!arguments.report_path.empty()) SOTTO_TRY(check_writable(arguments.report_path));
  SOTTO_ASSIGN(const LossSpec loss, parse_loss(arguments.loss));
  SOTTO_ASSIGN(const Regularizer regularizer, Regularizer::parse(arguments.regularizer));
  PublicProblem problem;
  SOTTO_ASSIGN(problem.relation, parse_relation(arguments.neighbours));
  problem.loss = loss_info(loss);
  SOTTO_ASSIGN(const LoadedFile data,
               arguments.data.load(arguments.data_path, problem.loss.classification));
  problem.n = data.table.units();
  problem.dimension = data.table.dim();
  problem.row_norm =
      data.row_norm_bound > 0 ? data.row_norm_bound : std::numeric_limits<double>::infinity();
  problem.regularizer =
      arguments.data.bias ? regularizer.on_first(problem.dimension - 1) : regularizer;

  const GlmEngine engine(data.table, loss);
  Progress progress(arguments.train.method, arguments.quiet || arguments.json);
  SOTTO_ASSIGN(const OneRunReport report,
               audit_in_one_run(engine, problem, arguments.train, arguments.options, progress));
  progress.finish();
  if (Progress::interrupted()) return kInterrupted;

  const double claimed = report.epsilon;
  const bool contradicts = report.guess.lower_bound > claimed;
  const std::string verdict = contradicts ? "contradicts the claim" : "consistent";
  if (arguments.json) {
    fmt::print(
        "{}\n",
        nlohmann::json({{"method", arguments.train.method},
                        {"claimed", {{"epsilon", claimed}, {"delta", arguments.train.delta}}},
                        {"lower_bound", report.guess.lower_bound},
                        {"confidence", arguments.options.confidence},
                        {"runs", 1},
                        {"canaries", arguments.options.canaries},
                        {"guesses", report.guess.guesses},
                        {"correct", report.guess.correct},
                        {"canary_share", report.canary_share},
                        {"canary_pull", report.canary_pull},
                        {"verdict", verdict}})
            .dump());
  } else {
    fmt::print("{}: {} (claimed epsilon {:.4g} at delta {:g}, zero-out)\n",
               arguments.train.method,
               verdict,
               claimed,
               arguments.train.delta);
    fmt::print(
        "epsilon is at least {:.4f} with confidence {:g}: {} of {} guesses right, {} of {} "
        "canaries "
        "left open\n",
        report.guess.lower_bound,
        arguments.options.confidence,
        report.guess.correct,
        report.guess.guesses,
        arguments.options.canaries - report.guess.guesses,
        arguments.options.canaries);
    fmt::print(
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
