#include "sotto/report/reported_run.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "sotto/core/file.hpp"
#include "sotto/core/json.hpp"
#include "sotto/model/model_json.hpp"
#include "sotto/privacy/promise.hpp"

namespace sotto {
namespace {

constexpr int kNewest = 1;

/// null stands for infinity, as in the file.
double number(const nlohmann::json& value) {
  return value.is_null() ? std::numeric_limits<double>::infinity() : value.get<double>();
}

Expected<std::vector<Setting>> settings_in(const nlohmann::json& list) {
  std::vector<Setting> settings;
  for (const auto& each : list) {
    SOTTO_ASSIGN(
        const Origin origin,
        named_in_file("a setting's origin", each.at("origin").get<std::string>(), kOrigins));
    settings.push_back({each.at("name").get<std::string>(),
                        each.at("value").get<std::string>(),
                        origin,
                        each.value("group", "")});
  }
  return settings;
}

std::vector<TracePoint> trace_in(const nlohmann::json& list) {
  std::vector<TracePoint> points;
  for (const auto& each : list)
    points.push_back({each.at("step").get<std::int64_t>(),
                      number(each.at("step_size")),
                      number(each.at("gradient_norm")),
                      each.value("passes", 0.0)});
  return points;
}

std::vector<SpentPoint> spending_in(const nlohmann::json& list) {
  std::vector<SpentPoint> points;
  for (const auto& each : list) {
    SpentPoint point;
    point.step = each.at("step").get<std::int64_t>();
    point.passes = each.at("passes").get<double>();
    point.noise_samples = each.at("noise_samples").get<std::int64_t>();
    for (const char* name :
         {"epsilon", "epsilon_if_planned_to_end_here"})  // the first: version 0.1
      if (each.contains(name)) point.epsilon = number(each[name]);
    if (each.contains("filter_share")) point.filter_share = each["filter_share"].get<double>();
    points.push_back(std::move(point));
  }
  return points;
}

std::vector<TestPoint> test_curve_in(const nlohmann::json& list) {
  std::vector<TestPoint> points;
  for (const auto& each : list) {
    TestPoint point{each.at("step").get<std::int64_t>(),
                    each.at("passes").get<double>(),
                    number(each.at("objective")),
                    {}};
    if (each.contains("accuracy")) point.accuracy = each["accuracy"].get<double>();
    points.push_back(point);
  }
  return points;
}

void read_test(const nlohmann::json& test, ReportedRun& run) {
  for (const char* name : {"accuracy", "auc", "rmse", "mae", "loss", "objective", "rows"})
    if (const auto found = test.find(name); found != test.end() && found->is_number())
      run.test.emplace_back(name, found->get<double>());
  if (const auto found = test.find("confusion"); found != test.end())
    run.confusion = found->get<std::vector<std::vector<std::int64_t>>>();
}

/// What only some runs have.
Expected<void> read_extras(const nlohmann::json& json, ReportedRun& run) {
  RunRecord& record = run.record;
  if (json.contains("options")) {
    SOTTO_ASSIGN(record.options, settings_in(json["options"]));
  }
  if (json.contains("spending")) record.spending = spending_in(json["spending"]);
  if (json.contains("test_curve")) record.test_curve = test_curve_in(json["test_curve"]);
  if (json.contains("epsilon_lower")) record.epsilon_lower = json["epsilon_lower"].get<double>();
  record.class_names = json.value("class_names", std::vector<std::string>());
  record.command = json.value("command", std::vector<std::string>());
  record.planned_samples = json.value("planned_noise_samples", std::int64_t{0});
  record.lost = json.value("lost", "");
  record.network = json.value("network", "");
  record.constraint = json.value("constraint", "none");
  if (const auto versions = json.find("versions"); versions != json.end())
    for (const auto& [name, version] : versions->items())
      record.versions.emplace_back(name, version.get<std::string>());
  if (const auto test = json.find("test"); test != json.end()) read_test(*test, run);
  if (const auto found = json.find("diagnostics"); found != json.end()) {
    record.diagnostics =
        Diagnostics{number(found->at("objective")), number(found->at("gradient_norm"))};
    if (found->contains("projected_gradient_norm"))
      record.diagnostics->projected_gradient_norm =
          (*found)["projected_gradient_norm"].get<double>();
    if (found->contains("frank_wolfe_gap"))
      record.diagnostics->frank_wolfe_gap = (*found)["frank_wolfe_gap"].get<double>();
  }
  if (json.contains("certificate")) {
    SOTTO_ASSIGN(record.certificate, certificate_from_json(json["certificate"]));
  }
  if (const auto gap = json.find("gap_certificate"); gap != json.end())
    record.gap = RecordedGap{gap->at("frank_wolfe_gap").get<double>(),
                             gap->at("half_width").get<double>(),
                             gap->at("confidence").get<double>()};
  if (const auto found = json.find("population_gradient"); found != json.end())
    record.population = PopulationGradient{found->at("norm").get<double>(),
                                           found->at("standard_error").get<double>(),
                                           found->at("rows").get<std::int64_t>()};
  return {};
}

/// What every version has had.
Expected<void> read_core(const nlohmann::json& json, RunRecord& record) {
  record.version = json.at("version").get<std::string>();
  record.method = json.at("method").get<std::string>();
  SOTTO_ASSIGN(record.privacy, privacy_from_json(json.at("privacy")));
  record.plan = json.at("plan").get<std::string>();
  record.epsilon_budget = number(json.at("epsilon_budget"));
  record.epsilon_planned = number(json.at("epsilon_planned"));
  record.noise_multiplier = number(json.at("noise_multiplier"));
  SOTTO_ASSIGN(record.settings, settings_in(json.at("settings")));
  record.loss = json.at("loss").get<std::string>();
  record.regularizer = json.at("regularizer").get<std::string>();
  record.dimension = json.at("dimension").get<std::int64_t>();
  record.steps = json.at("steps").get<std::int64_t>();
  record.passes = json.at("passes").get<double>();
  record.gradient_evaluations = json.at("gradient_evaluations").get<double>();
  SOTTO_ASSIGN(
      record.stopped,
      named_in_file("why a run stopped", json.at("stopped").get<std::string>(), kStopReasons));
  record.warnings = json.at("warnings").get<std::vector<std::string>>();
  // `--json` leaves it out.
  if (json.contains("trace")) record.trace = trace_in(json["trace"]);
  return {};
}

}  // namespace

std::optional<double> ReportedRun::metric(const std::string& name) const {
  for (const auto& [key, value] : test)
    if (key == name) return value;
  return std::nullopt;
}

bool ReportedRun::by_filter() const {
  if (!record.privacy.rule.empty()) return record.privacy.rule == to_string(PriceRule::kFilter);
  return !record.spending.empty() && record.spending.back().filter_share.has_value();
}

Expected<ReportedRun> reported_run(const nlohmann::json& json,
                                   std::string label,
                                   const std::string& source) {
  const auto version = json.is_object() ? json.find("sotto_run") : json.end();
  if (version == json.end() || !version->is_number_integer())
    return fail(ErrorKind::kBadData,
                fmt::format("{} is JSON but not a run record. Give the file that `sotto train "
                            "‘record FILE’` wrote.",
                            source));
  if (const auto found = version->get<std::int64_t>(); found > kNewest)
    return fail(ErrorKind::kBadData,
                fmt::format("{} is a run record of version {}, newer than the {} that this program "
                            "reads. Update Sotto.",
                            source,
                            found,
                            kNewest));
  ReportedRun run;
  run.label = std::move(label);
  try {
    SOTTO_TRY(read_core(json, run.record));
    SOTTO_TRY(read_extras(json, run));
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorKind::kBadData,
                fmt::format("{} misses parts that a run record has, or was changed by hand ({}). "
                            "Write it again with `sotto train ‘record FILE’`.",
                            source,
                            error.what()));
  }
  return run;
}

Expected<nlohmann::json> load_record(const std::string& path) {
  SOTTO_ASSIGN(const std::string text, read_text_file(path));
  auto parsed = json_or_discarded(text);
  if (parsed.is_discarded())
    return fail(ErrorKind::kBadData,
                fmt::format("{} is not JSON, or was cut short. Give the file that `sotto train "
                            "‘record FILE’` wrote.",
                            path));
  return parsed;
}

Expected<ReportedRun> load_run(const std::string& path) {
  SOTTO_ASSIGN(const nlohmann::json record, load_record(path));
  return reported_run(record, std::filesystem::path(path).stem().string(), path);
}

}  // namespace sotto
