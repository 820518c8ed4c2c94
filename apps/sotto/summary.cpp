#include "summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "printer.hpp"

namespace sotto::app {

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
  tell("Accuracy = {:.2f}% ({}/{})\n",
       100 * metrics.accuracy,
       confusion[0][0] + confusion[1][1],
       metrics.rows);
  tell("{}: AUC {}, loss {:.6f}, objective {:.6f}\n",
       what,
       std::isnan(metrics.auc) ? "-" : fmt::format("{:.4f}", metrics.auc),
       metrics.loss,
       metrics.objective);
  const std::string negative = class_names.size() == 2 ? class_names[0] : "-1";
  const std::string positive = class_names.size() == 2 ? class_names[1] : "+1";
  const std::size_t width = std::max({std::size_t{9}, negative.size() + 1, positive.size() + 1});
  tell("{:<12} {:>{}} {:>{}}   (predicted)\n", "truth", negative, width, positive, width);
  tell("{:<12} {:>{}} {:>{}}\n", negative, confusion[0][0], width, confusion[0][1], width);
  tell("{:<12} {:>{}} {:>{}}\n", positive, confusion[1][0], width, confusion[1][1], width);
}

std::string short_number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return text;
  return fmt::format("{:.6g}", value);
}

nlohmann::json to_json(const PreparedRun& run, double delta) {
  nlohmann::json settings = nlohmann::json::array();
  for (const auto& setting : run.configured.settings)
    settings.push_back(
        {{"name", setting.name}, {"value", setting.value}, {"origin", setting.origin}});
  nlohmann::json json = {{"dry_run", true},
                         {"method", run.method->name},
                         {"private", run.method->is_private},
                         {"settings", settings},
                         {"warnings", run.warnings}};
  if (run.method->is_private) {
    json["noise_multiplier"] = run.noise_multiplier;
    json["epsilon_planned"] = run.epsilon_planned;
    json["delta"] = delta;
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
  say("NOT private: loaded in {:.3f} s, trained in {:.3f} s, {:.0f} examples a second "
      "(--unsafe-diagnostics)\n",
      load_seconds,
      result.seconds,
      result.record.gradient_evaluations / std::max(1e-9, result.seconds));
}

std::optional<double> planned_passes(const PreparedRun& run) {
  if (!run.method->is_private || !run.plan.filter.empty()) return std::nullopt;
  const auto plan = canonical(run.plan.event);
  if (!plan) return std::nullopt;
  double passes = 0;
  for (const Term& term : plan->terms) passes += static_cast<double>(term.count) * term.rate;
  return passes;
}

}  // namespace sotto::app
