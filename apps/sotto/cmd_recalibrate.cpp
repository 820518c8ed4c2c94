#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <vector>

#include "exit_codes.hpp"
#include "printer.hpp"
#include "rows_for_model.hpp"
#include "sotto/core/directed_text.hpp"
#include "sotto/core/file.hpp"
#include "sotto/core/file_kind.hpp"
#include "sotto/model/recalibrate.hpp"
#include "sotto/privacy/seed_mark.hpp"
#include "sotto/task/evaluation.hpp"
#include "verbs.hpp"
#include "watched_output.hpp"

namespace sotto::app {
namespace {

struct RecalibrateArguments {
  RowsForModel input;
  std::string output_path;
  std::string method = "platt";
  bool overwrite = false;
  bool json = false;
};

nlohmann::json to_json(const TwoClassScores::Probabilities& p) {
  return {{"mean_prediction", p.mean}, {"log_loss", p.log_loss}, {"brier", p.brier}};
}

void print(const RecalibrateArguments& arguments,
           const Model& model,
           const TwoClassScores& before,
           const TwoClassScores& after) {
  const Recalibration& done = *model.recalibrated;
  if (arguments.json) {
    nlohmann::json json = {{"method", to_string(done.method)},
                           {"slope", done.slope},
                           {"intercept", done.intercept},
                           {"rows", done.rows},
                           {"observed_share", before.share()},
                           {"before", to_json(*before.probabilities)},
                           {"after", to_json(*after.probabilities)}};
    print_json(json);
    return;
  }
  tell("{} on {} rows: {:.6g} x score {} {:.6g}\n",
       to_string(done.method),
       done.rows,
       done.slope,
       done.intercept < 0 ? "-" : "+",
       std::abs(done.intercept));
  tell("{:<16} {:>10} {:>10}\n", "", "before", "after");
  const auto line = [&](const char* name, double TwoClassScores::Probabilities::*value) {
    tell("{:<16} {:>10.6f} {:>10.6f}\n",
         name,
         (*before.probabilities).*value,
         (*after.probabilities).*value);
  };
  line("mean prediction", &TwoClassScores::Probabilities::mean);
  tell("{:<16} {:>10.6f} {:>10.6f}\n", "observed share", before.share(), after.share());
  line("log loss", &TwoClassScores::Probabilities::log_loss);
  line("Brier score", &TwoClassScores::Probabilities::brier);
  const PrivacyStatement& privacy = model.privacy;
  tell("{} written; its guarantee is that of {}: {}\n",
       arguments.output_path,
       arguments.input.model_path,
       privacy.is_private ? fmt::format("epsilon {}{}, delta {} ({})",
                                        text_up(privacy.epsilon),
                                        seed_mark(privacy),
                                        text_up(privacy.delta),
                                        to_string(privacy.neighbours))
                          : std::string("none"));
}

/// A model that was trained is never replaced. A corrected one can be made again, and costs
/// nothing.
Expected<void> check_replaceable(const RecalibrateArguments& arguments) {
  const std::string& path = arguments.output_path;
  SOTTO_ASSIGN(const FileKind kind, kind_at(path));
  if (kind != FileKind::kModel) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) return {};
    return fail(
        ErrorKind::kUsage,
        fmt::format("{} exists and is no model, so that it is kept. Name another path.", path));
  }
  const auto there = load_model(path);
  if (!there || !there->recalibrated)
    return fail(
        ErrorKind::kUsage,
        fmt::format("OUTPUT would replace {}, which is a model as it was trained: {}. Choose "
                    "another path.",
                    path,
                    worth_of(kind)));
  if (arguments.overwrite) return {};
  return fail(ErrorKind::kUsage,
              fmt::format("{} is a corrected model, and is kept. To replace it, give --overwrite; "
                          "or name another path.",
                          path));
}

Expected<int> recalibrate(const RecalibrateArguments& arguments) {
  const auto method = named(arguments.method, kRecalibrations);
  if (!method)
    return fail(ErrorKind::kUsage,
                fmt::format("--method must be platt or intercept, but is '{}'.", arguments.method));
  SOTTO_TRY(check_replaceable(arguments));
  SOTTO_TRY(check_writable(arguments.output_path));
  SOTTO_ASSIGN(WatchedOutput output, WatchedOutput::at(arguments.output_path));
  SOTTO_ASSIGN(auto opened, arguments.input.open());
  const Table& rows = opened.rows.table;
  SOTTO_TRY(check_recalibration(opened.model));
  SOTTO_ASSIGN(const auto scores, two_class_scores(opened.model, *opened.family, rows));
  const TwoClassScores before = measure_scores(scores, rows.labels(), true);
  SOTTO_TRY(sotto::recalibrate(opened.model, scores, rows, *method));
  SOTTO_ASSIGN(const auto new_scores, two_class_scores(opened.model, *opened.family, rows));
  SOTTO_ASSIGN(const std::string place, output.place());
  SOTTO_TRY(save_model(opened.model, place));
  SOTTO_TRY(output.check());
  print(arguments, opened.model, before, measure_scores(new_scores, rows.labels(), true));
  const auto rescaled = rescaled_rows(opened.model, rows);
  if (rescaled > 0)
    say("note: {} of the rows are longer than --row-norm and were rescaled, their intercept with "
        "them: mean prediction and observed share agree by that weight, not exactly.\n",
        rescaled);
  say("note: these numbers are of the rows that the fit has seen; `sotto evaluate` on other public "
      "rows tells how good it is.\n");
  return kSuccess;
}

}  // namespace

Action add_recalibrate(Verb& app) {
  auto* verb =
      app.add_subcommand("recalibrate", "correct a model's probabilities with public rows");
  auto a = std::make_shared<RecalibrateArguments>();
  a->input.add_to(*verb);
  verb->writes("the model", [a = a.get()] { return std::vector{a->output_path}; });
  verb->add_word("OUTPUT", a->output_path, "the corrected model").required();
  verb->add_flag("--overwrite", a->overwrite, "replace OUTPUT if it is a corrected model");
  verb->add_word("--method",
                 a->method,
                 "platt: a slope and an intercept for the scores; intercept: the intercept alone")
      .show_default();
  verb->add_flag("--json", a->json, "print one object for machines");
  verb->footer(R"(
Noise and clipping can leave probabilities that are too low, too high or too timid throughout, while the ranking is
good. This fits p = sigmoid(a * score + b) by maximum likelihood, a > 0, and puts a and b into the weights: the
result is an ordinary model for predict, evaluate and export. AUC stays the same where no row is longer than
--row-norm.

  sotto evaluate public.csv model.json                        mean prediction 0.08, observed share 0.11
  sotto recalibrate public.csv model.json better.json
  sotto predict new.csv better.json probabilities.csv

The rows must be public, and never those of training: the fit depends on them exactly. The model's own guarantee
stays as it is, because nothing more is computed from its training rows. The new file says that it was recalibrated, and `sotto verify` says so too.
The model must be a logistic one with an intercept, or a network of two classes whose last layer is linear.)");
  return [a] { return recalibrate(*a); };
}

}  // namespace sotto::app
