#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "evaluation_text.hpp"
#include "exit_codes.hpp"
#include "printer.hpp"
#include "rows_for_model.hpp"
#include "sotto/core/file.hpp"
#include "sotto/report/evaluation_page.hpp"
#include "sotto/task/evaluation.hpp"
#include "verbs.hpp"

namespace sotto::app {
namespace {

struct EvaluateArguments {
  RowsForModel input;
  std::string report;
  bool json = false;
};

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

Expected<int> evaluate(const EvaluateArguments& arguments) {
  if (!arguments.report.empty())
    SOTTO_TRY(check_writable(arguments.report, StreamTargets::kAllowed));
  SOTTO_ASSIGN(const auto opened, arguments.input.open());
  SOTTO_ASSIGN(const Evaluation evaluation,
               evaluate_rows(opened.model, *opened.family, opened.rows.table));
  if (!arguments.report.empty())
    SOTTO_TRY(write_file_atomically(arguments.report,
                                    evaluation_page(evaluation,
                                                    opened.model.privacy,
                                                    file_name(arguments.input.model_path),
                                                    file_name(arguments.input.data_path)),
                                    FileAccess::kPublic,
                                    StreamTargets::kAllowed));
  if (arguments.json)
    print_json(to_json(evaluation));
  else
    print_evaluation(evaluation);
  for (const auto& warning : warnings_of(evaluation)) say("warning: {}\n", warning);
  if (!arguments.report.empty() && !arguments.json) tell("{} written\n", arguments.report);
  return kSuccess;
}

}  // namespace

Action add_evaluate(Verb& app) {
  auto* verb = app.add_subcommand("evaluate", "how good a model is on public rows, and where not");
  auto a = std::make_shared<EvaluateArguments>();
  a->input.add_to(*verb);
  verb->add_output("--report", a->report, "a page with the curves, one HTML file");
  verb->add_flag("--json", a->json, "print one object for machines");
  verb->footer(R"(
Two classes: accuracy beside the share of the larger class, AUC and PR-AUC (average precision), log loss and Brier
score, mean prediction against observed share, reliability in ten groups, thresholds with precision and recall, and a
confusion table. More classes: the same without thresholds, AUC of each class against the others. Regression: RMSE,
MAE, R^2, bias, of counts the Poisson deviance. A model without probabilities (loss sigmoid) is told what it can be: ranking, accuracy, thresholds.

  sotto evaluate test.csv model.json
  sotto evaluate test.csv model.json --report evaluation.html

All numbers are exact, and no charge covers them: use rows that are public, or that you may look at anyway, and never
the training rows of a private model. docs/guide/evaluate.md explains each number.)");
  return [a] { return evaluate(*a); };
}

}  // namespace sotto::app
