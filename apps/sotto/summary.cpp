#include "summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "printer.hpp"
#include "sotto/core/directed_text.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/privacy/seed_mark.hpp"
#include "sotto/report/live_view.hpp"

namespace sotto::app {

namespace {

std::string name_of(const std::vector<std::string>& names, std::size_t classes, std::size_t c) {
  if (c < names.size()) return names[c];
  if (classes == 2) return c == 1 ? "+1" : "-1";
  return std::to_string(c);
}

}  // namespace

std::string accuracy_text(const Confusion& confusion, const std::vector<std::string>& names) {
  std::int64_t rows = 0;
  for (std::size_t c = 0; c < confusion.size(); ++c) rows += rows_of(confusion, c);
  const auto percent = [&](std::int64_t count) {
    return 100 * static_cast<double>(count) / static_cast<double>(std::max<std::int64_t>(1, rows));
  };
  const std::size_t majority = majority_class(confusion);
  return fmt::format("Accuracy = {:.2f}% ({}/{}); {:.2f}% if every row were predicted {}",
                     percent(rows_right(confusion)),
                     rows_right(confusion),
                     rows,
                     percent(rows_of(confusion, majority)),
                     name_of(names, confusion.size(), majority));
}

std::string never_predicted_text(const Confusion& confusion,
                                 const std::vector<std::string>& names,
                                 std::size_t c) {
  const std::string name = name_of(names, confusion.size(), c);
  return fmt::format(
      "no row is predicted {}, but {} of them are {}.", name, rows_of(confusion, c), name);
}

std::string worse_than_shares_text(double log_loss, const Confusion& confusion) {
  if (!worse_than_shares(log_loss, confusion)) return "";
  return fmt::format(
      "the probabilities are worse than none: log loss {:.4f}, and {:.4f} for giving every row the "
      "classes' shares. A larger --clip-radius helps if clipping made them so, a larger --epsilon "
      "if noise did{}.",
      log_loss,
      log_loss_of_shares(confusion),
      confusion.size() == 2 && rows_of(confusion, 0) > 0 && rows_of(confusion, 1) > 0
          ? ", and `sotto recalibrate` corrects them with public rows"
          : "");
}

void warn_of_classes(const Metrics& metrics, const std::vector<std::string>& class_names) {
  if (!metrics.classification) return;
  for (const std::size_t c : never_predicted(metrics.confusion))
    say("warning: {} {}{}\n",
        never_predicted_text(metrics.confusion, class_names, c),
        metrics.confusion.size() == 2 ? "`sotto evaluate` shows other thresholds. " : "",
        kWeighClasses);
  if (!metrics.log_loss || metrics.rows == 0) return;
  if (const auto text = worse_than_shares_text(*metrics.log_loss, metrics.confusion); !text.empty())
    say("warning: {}\n", text);
}

void print_confusion(const Confusion& confusion, std::vector<std::string> names) {
  constexpr std::size_t kMostClasses = 20;  // a table of more would not fit a screen
  if (confusion.size() > kMostClasses) return;
  for (std::size_t c = names.size(); c < confusion.size(); ++c)
    names.push_back(name_of(names, confusion.size(), c));
  std::size_t width = confusion.size() == 2 ? 9 : 5;
  std::size_t first = 12;
  for (const auto& name : names) {
    width = std::max(width, name.size() + 1);
    first = std::max(first, name.size());
  }
  tell("{:<{}}", "truth", first);
  for (const auto& name : names) tell(" {:>{}}", name, width);
  tell("   (predicted)\n");
  for (std::size_t truth = 0; truth < confusion.size(); ++truth) {
    tell("{:<{}}", names[truth], first);
    for (const std::int64_t count : confusion[truth]) tell(" {:>{}}", count, width);
    tell("\n");
  }
}

void print_metrics(const Metrics& metrics,
                   const std::vector<std::string>& class_names,
                   const std::string& what) {
  if (!metrics.classification) {
    tell("{}: RMSE {:.6g}, MAE {:.6g}, loss {:.6g}, objective {:.6g} ({} rows)\n",
         what,
         metrics.rmse,
         metrics.mae,
         metrics.loss,
         metrics.objective,
         metrics.rows);
    return;
  }
  const auto& confusion = metrics.confusion;
  tell("{}\n", accuracy_text(confusion, class_names));
  tell("{}: ", what);
  if (confusion.size() == 2)
    tell("AUC {}, ", std::isnan(metrics.auc) ? "-" : fmt::format("{:.4f}", metrics.auc));
  const bool told = metrics.log_loss && metrics.rows > 0;
  if (told)
    tell("log loss {:.6f} (by chance {:.6f}), ", *metrics.log_loss, log_loss_of_shares(confusion));
  // Class weights make the loss of training another one.
  if (told && std::abs(metrics.loss - *metrics.log_loss) <= 1e-6 * *metrics.log_loss)
    tell("objective {:.6f}\n", metrics.objective);
  else
    tell("{}loss {:.6f}, objective {:.6f}\n",
         told ? "as training weighs the classes: " : "",
         metrics.loss,
         metrics.objective);
  print_confusion(confusion, class_names);
}

std::string short_number(const std::string& text) {
  const auto value = number_in<double>(text);
  return value ? fmt::format("{:.6g}", *value) : text;
}

nlohmann::json to_json(const PreparedRun& run, const TrainOptions& options) {
  nlohmann::json settings = nlohmann::json::array();
  for (const auto& setting : run.configured.settings)
    settings.push_back(
        {{"name", setting.name}, {"value", setting.value}, {"origin", to_string(setting.origin)}});
  nlohmann::json json = {{"dry_run", true},
                         {"method", run.method->name},
                         {"settings", settings},
                         {"warnings", run.warnings}};
  state_private(json, run.method->is_private, options.seed.has_value());
  if (run.method->is_private) {
    json["noise_multiplier"] = run.noise_multiplier;
    json["epsilon_planned"] = run.epsilon_planned;
    json["delta"] = options.delta;
    json["accountant"] = run.accountant->name();
    json["plan"] =
        run.plan.filter.empty() ? to_string(run.plan.event) : "filter " + run.plan.filter;
  }
  return json;
}

std::optional<double> price_of(const PreparedRun& run) {
  return run.method->is_private ? std::optional<double>(run.epsilon_planned) : std::nullopt;
}

void print_timings(double load_seconds, const TrainResult& result) {
  say("NOT private: loaded in {:.3f} s, trained in {:.3f} s, {:.0f} examples per second "
      "(--unsafe-diagnostics)\n",
      load_seconds,
      result.seconds,
      result.record.gradient_evaluations / std::max(1e-9, result.seconds));
}

std::optional<double> planned_passes(const PreparedRun& run) {
  if (!run.method->is_private || !run.plan.filter.empty()) return std::nullopt;
  const auto plan = canonical(run.plan.event);
  if (!plan) return std::nullopt;
  double passes = run.plan.further_passes;
  for (const Term& term : plan->terms) passes += static_cast<double>(term.count) * term.rate;
  return passes;
}

void print_measures(const RunRecord& record) {
  if (const auto& certificate = record.gap)
    tell("certificate  Frank-Wolfe gap {:.4g} ± {:.4g} ({:g} % confidence, paid for)\n",
         certificate->gap,
         certificate->half_width,
         100 * certificate->confidence);
  if (record.population && record.constraint != "none")
    tell("population   gradient norm {:.4g}, standard error {:.4g} ({} public rows)\n",
         record.population->norm,
         record.population->standard_error,
         record.population->rows);
  if (!record.diagnostics) return;
  tell("NOT private: training objective {:.6f}, gradient norm {:.6f}",
       record.diagnostics->objective,
       record.diagnostics->gradient_norm);
  if (const auto& norm = record.diagnostics->projected_gradient_norm)
    tell(", projected gradient norm {:.6f}", *norm);
  if (const auto& gap = record.diagnostics->frank_wolfe_gap) tell(", Frank-Wolfe gap {:.6f}", *gap);
  tell(" (--unsafe-diagnostics)\n");
}

namespace {

std::string origin_text(Origin origin) {
  return origin == Origin::kGiven ? "" : fmt::format(" ({})", to_string(origin));
}

}  // namespace

namespace {

/// What the line before it says, for those who read one for the first time.
void print_meaning(const PreparedRun& run,
                   const PublicProblem& problem,
                   const TrainOptions& options) {
  // Where the noise is known, or true values are shown, there is no such promise.
  if (options.seed || options.unsafe_diagnostics || !std::isfinite(run.epsilon_planned)) return;
  const char* unit = options.unit.empty() || options.unit == "row" ? "row" : "person";
  const double times = std::exp(run.epsilon_planned);
  say("that means: {} any one {}, nothing that can be seen in the results has more than {} its "
      "probability, plus {} (delta). `sotto methods {}` explains the settings.\n",
      problem.relation == Relation::kReplaceOne ? "whatever the values of" : "with or without",
      unit,
      times < 1e6 ? text_up(times, 3) + " times (e^epsilon)"
                  : fmt::format("e^{} times", text_up(run.epsilon_planned, 4)),
      text_up(options.delta),
      run.method->name);
}

}  // namespace

void print_prepared(const PreparedRun& run,
                    const PublicProblem& problem,
                    const TrainOptions& options) {
  say("{}: n {} {}, dimension {}",
      run.method->name,
      std::int64_t{problem.n},
      options.unit.empty() || options.unit == "row" ? "rows" : "persons",
      problem.dimension);
  for (const auto& setting : run.configured.settings)
    if (setting.value != "none")
      say(", {} {}{}", setting.name, short_number(setting.value), origin_text(setting.origin));
  say("\n");
  if (!run.method->is_private) return;
  const char* mark = seed_mark(options.seed.has_value());
  if (!run.plan.filter.empty())
    say("releases are chosen during the run; the {} filter ends it at epsilon {}{}, delta "
        "{} ({})\n",
        run.plan.filter,
        text_up(run.epsilon_planned, 5),
        mark,
        text_up(options.delta),
        to_string(problem.relation));
  else
    say("noise multiplier {}{}; the plan costs epsilon {}{} at delta {} ({}, {})\n",
        text_up(run.noise_multiplier, 5),
        options.noise_multiplier ? "" : " (calibrated)",
        text_up(run.epsilon_planned, 5),
        mark,
        text_up(options.delta),
        to_string(problem.relation),
        run.accountant->name());
  print_meaning(run, problem, options);
}

void print_plan(const PreparedRun& run,
                const PublicProblem& problem,
                const TrainOptions& options,
                bool json,
                std::optional<double> examples_a_second) {
  const std::optional<double> passes = planned_passes(run);
  const auto n = static_cast<double>(problem.n);
  if (json) {
    nlohmann::json object = to_json(run, options);
    object["n"] = std::int64_t{problem.n};
    object["dimension"] = problem.dimension;
    if (passes) object["passes"] = *passes;
    if (examples_a_second) object["examples_a_second"] = *examples_a_second;
    if (passes && examples_a_second) object["seconds"] = *passes * n / *examples_a_second;
    print_json(object);
    return;
  }
  print_prepared(run, problem, options);
  if (run.method->is_private)
    tell("plan {}\n",
         run.plan.filter.empty() ? to_string(run.plan.event) : "filter " + run.plan.filter);
  if (passes)
    tell("cost {:.4g} passes over the data, {:.4g} row visits{}\n",
         *passes,
         *passes * n,
         examples_a_second ? fmt::format(", about {} here at {:.0f} examples per second",
                                         duration_text(*passes * n / *examples_a_second),
                                         *examples_a_second)
                           : "");
  for (const auto& warning : run.warnings) say("warning: {}\n", warning);
}

}  // namespace sotto::app
