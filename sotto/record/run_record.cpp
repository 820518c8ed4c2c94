#include "sotto/record/run_record.hpp"

#include <fmt/format.h>

#include <Eigen/Core>
#include <boost/version.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sotto/core/directed_text.hpp"
#include "sotto/core/json.hpp"
#include "sotto/core/version.hpp"
#include "sotto/model/model_json.hpp"
#include "sotto/privacy/number_json.hpp"
#include "sotto/privacy/seed_mark.hpp"
#include "sotto/record/record_json.hpp"

namespace sotto {
namespace {

nlohmann::json to_json(const std::vector<Setting>& settings) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& setting : settings) {
    list.push_back(
        {{"name", setting.name}, {"value", setting.value}, {"origin", to_string(setting.origin)}});
    if (!setting.group.empty()) list.back()["group"] = setting.group;
  }
  return list;
}

nlohmann::json to_json(const std::vector<SpentPoint>& points) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& point : points) {
    std::int64_t releases = 0;
    for (const Term& term : point.events.terms) releases += term.count;
    list.push_back({{"step", point.step},
                    {"passes", point.passes},
                    {"releases", releases},
                    {"noise_samples", point.noise_samples}});
    if (point.epsilon)
      list.back()["epsilon_if_planned_to_end_here"] = number_or_null(*point.epsilon);
    if (point.filter_share) list.back()["filter_share"] = *point.filter_share;
  }
  return list;
}

nlohmann::json to_json(const std::vector<TestPoint>& points) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& point : points) {
    list.push_back({{"step", point.step},
                    {"passes", point.passes},
                    {"objective", number_or_null(point.objective)}});
    if (point.accuracy) list.back()["accuracy"] = *point.accuracy;
  }
  return list;
}

/// What reports show beside the results.
void add_circumstances(const RunRecord& record, nlohmann::json& json) {
  if (!record.spending.empty()) json["spending"] = to_json(record.spending);
  if (record.epsilon_lower) json["epsilon_lower"] = *record.epsilon_lower;
  if (!record.test_curve.empty()) json["test_curve"] = to_json(record.test_curve);
  if (!record.options.empty()) json["options"] = to_json(record.options);
  if (!record.class_names.empty()) json["class_names"] = record.class_names;
  if (!record.command.empty()) json["command"] = record.command;
  for (const auto& [name, version] : record.versions) json["versions"][name] = version;
}

}  // namespace

nlohmann::json to_json(const RunRecord& record) {
  nlohmann::json drawn = nlohmann::json::array();
  for (const auto& batches : record.drawn)
    drawn.push_back({{"sampling", batches.sampling}, {"count", batches.count}});
  nlohmann::json trace = nlohmann::json::array();
  for (const auto& point : record.trace)
    trace.push_back({{"step", point.step},
                     {"step_size", point.step_size},
                     {"gradient_norm", point.gradient_norm},
                     {"passes", point.passes}});
  nlohmann::json json = {{"sotto_run", 1},
                         {"version", record.version},
                         {"method", record.method},
                         {"epsilon_spent", number_or_null(record.privacy.epsilon)},
                         {"epsilon_planned", number_or_null(record.epsilon_planned)},
                         {"epsilon_budget", number_or_null(record.epsilon_budget)},
                         {"delta", record.privacy.delta},
                         {"neighbours", to_string(record.privacy.neighbours)},
                         {"privacy", to_json(record.privacy)},
                         {"plan", record.plan},
                         {"planned_noise_samples", record.planned_samples},
                         {"noise_multiplier", record.noise_multiplier},
                         {"drawn", std::move(drawn)},
                         {"settings", to_json(record.settings)},
                         {"loss", record.loss},
                         {"regularizer", record.regularizer},
                         {"dimension", record.dimension},
                         {"steps", record.steps},
                         {"passes", record.passes},
                         {"gradient_evaluations", record.gradient_evaluations},
                         {"stopped", to_string(record.stopped)},
                         {"insecure_seed", record.privacy.insecure_seed},
                         {"unsafe_diagnostics", record.privacy.unsafe_diagnostics},
                         {"warnings", record.warnings},
                         {"trace", std::move(trace)}};
  state_private(json, record.privacy.is_private, record.privacy.insecure_seed);
  if (!record.lost.empty()) json["lost"] = record.lost;
  if (record.test) json["test"] = to_json(*record.test);
  if (!record.network.empty()) json["network"] = record.network;
  if (record.diagnostics) {
    json["diagnostics"] = {{"objective", record.diagnostics->objective},
                           {"gradient_norm", record.diagnostics->gradient_norm}};
    if (const auto& norm = record.diagnostics->projected_gradient_norm)
      json["diagnostics"]["projected_gradient_norm"] = *norm;
    if (const auto& gap = record.diagnostics->frank_wolfe_gap)
      json["diagnostics"]["frank_wolfe_gap"] = *gap;
  }
  if (record.constraint != "none") json["constraint"] = record.constraint;
  if (record.certificate) json["certificate"] = to_json(*record.certificate);
  if (record.gap)
    json["gap_certificate"] = {{"frank_wolfe_gap", record.gap->gap},
                               {"half_width", record.gap->half_width},
                               {"confidence", record.gap->confidence}};
  if (record.population)
    json["population_gradient"] = {{"norm", record.population->norm},
                                   {"standard_error", record.population->standard_error},
                                   {"rows", record.population->rows}};
  add_circumstances(record, json);
  return json;
}

std::vector<std::pair<std::string, std::string>> build_versions() {
#if defined(__clang__)
  const std::string compiler = "clang " __clang_version__;
#else
  const std::string compiler = "g++ " __VERSION__;
#endif
  return {{"sotto", kVersion},
          {"compiler", compiler},
          {"eigen",
           fmt::format("{}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION)},
          {"boost", BOOST_LIB_VERSION}};
}

std::string to_text(const RunRecord& record) { return json_text(to_json(record), 1) + "\n"; }

std::string brief(const RunRecord& record) {
  if (!record.privacy.is_private)
    return fmt::format("{}: {} steps, NOT private, stopped: {}",
                       record.method,
                       record.steps,
                       to_string(record.stopped));
  const std::string budget = std::isfinite(record.epsilon_budget)
                                 ? " of a budget of " + text_up(record.epsilon_budget)
                                 : "";
  return fmt::format("{}: {} steps, epsilon {}{}{} (delta {}, {}, {}), stopped: {}",
                     record.method,
                     record.steps,
                     text_up(record.privacy.epsilon, 4),
                     budget,
                     seed_mark(record.privacy),
                     text_up(record.privacy.delta),
                     to_string(record.privacy.neighbours),
                     record.privacy.accountant,
                     to_string(record.stopped));
}

}  // namespace sotto
