#include "sotto/study/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "sotto/core/json.hpp"

namespace sotto::study {
namespace {

using nlohmann::json;

json json_number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

double number_of(const json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::infinity();
}

json to_json(const std::map<std::string, Statistic>& values) {
  json result = json::object();
  for (const auto& [name, value] : values)
    result[name] = {{"mean", json_number(value.mean)}, {"sd", json_number(value.deviation)}};
  return result;
}

std::map<std::string, Statistic> statistics_of(const json& values) {
  std::map<std::string, Statistic> result;
  for (const auto& [name, value] : values.items())
    result[name] = {number_of(value.at("mean")), number_of(value.at("sd"))};
  return result;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

}  // namespace

const CellResult* Results::find(const std::string& key) const {
  for (const auto& cell : cells)
    if (cell.key == key) return &cell;
  return nullptr;
}

std::string key_of(const CellSpec& cell) {
  std::string key = cell.row;
  if (!cell.group.empty()) key = cell.group + " / " + key;
  key += " / " + cell.data;
  if (cell.epsilon) key += fmt::format(" / epsilon {}", *cell.epsilon);
  if (cell.x) key += fmt::format(" / x {}", *cell.x);
  return key;
}

json to_json(const ArmResult& arm) {
  if (!arm.missing.empty()) return {{"missing", arm.missing}};
  json result = {{"method", arm.method},
                 {"measures", to_json(arm.measures)},
                 {"epsilon", json_number(arm.epsilon)},
                 {"private", arm.is_private},
                 {"accountant", arm.accountant},
                 {"delta", arm.delta},
                 {"runs", arm.runs},
                 {"n", arm.n},
                 {"settings", arm.settings}};
  if (arm.epsilon_of_code) result["epsilon_of_code"] = json_number(*arm.epsilon_of_code);
  if (!arm.curve.empty()) {
    json curve = json::array();
    for (const auto& point : arm.curve)
      curve.push_back(
          {{"steps", point.steps}, {"passes", point.passes}, {"values", to_json(point.values)}});
    result["curve"] = std::move(curve);
  }
  return result;
}

Expected<ArmResult> arm_from_json(const json& json) {
  ArmResult arm;
  try {
    if (json.contains("missing")) {
      arm.missing = json.at("missing");
      return arm;
    }
    arm.method = json.at("method");
    arm.measures = statistics_of(json.at("measures"));
    arm.epsilon = number_of(json.at("epsilon"));
    arm.is_private = json.at("private");
    arm.accountant = json.at("accountant");
    arm.delta = json.at("delta");
    arm.runs = json.at("runs");
    arm.n = json.at("n");
    arm.settings = json.at("settings");
    if (json.contains("epsilon_of_code"))
      arm.epsilon_of_code = number_of(json.at("epsilon_of_code"));
    if (json.contains("curve"))
      for (const auto& point : json.at("curve"))
        arm.curve.push_back(
            {point.at("steps"), point.at("passes"), statistics_of(point.at("values"))});
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorKind::kBadData, fmt::format("not the result of a cell: {}", error.what()));
  }
  return arm;
}

json to_json(const Results& results) {
  json cells = json::array();
  for (const auto& cell : results.cells) {
    json each = {{"cell", cell.key}};
    if (cell.recipe) each["recipe"] = to_json(*cell.recipe);
    if (cell.best) each["best"] = to_json(*cell.best);
    cells.push_back(std::move(each));
  }
  return {{"reproduction", results.name},
          {"version", results.version},
          {"command", results.command},
          {"machine", results.machine},
          {"quick", results.quick},
          {"cells", std::move(cells)}};
}

Expected<Results> results_from_json(const std::string& text, const std::string& path) {
  Results results;
  const json whole = json_or_discarded(text);
  if (!whole.is_object() || !whole.contains("reproduction"))
    return fail(
        ErrorKind::kBadData,
        fmt::format("{}: not the results of a reproduction (made by sotto reproduce).", path));
  try {
    results.name = whole.at("reproduction");
    results.version = whole.at("version");
    results.command = whole.at("command");
    results.machine = whole.at("machine");
    results.quick = whole.at("quick");
    for (const auto& each : whole.at("cells")) {
      CellResult cell;
      cell.key = each.at("cell");
      if (each.contains("recipe")) {
        SOTTO_ASSIGN(cell.recipe, arm_from_json(each.at("recipe")));
      }
      if (each.contains("best")) {
        SOTTO_ASSIGN(cell.best, arm_from_json(each.at("best")));
      }
      results.cells.push_back(std::move(cell));
    }
  } catch (const json::exception& error) {
    return fail(ErrorKind::kBadData, fmt::format("{}: {}", path, error.what()));
  }
  return results;
}

std::string to_csv(const StudySpec& spec, const Results& results) {
  std::string text =
      "row,group,data,epsilon,x,what,method,certified_epsilon,measure,value,sd,runs\n";
  const auto line = [&](const CellSpec& cell,
                        const std::string& what,
                        const std::string& method,
                        double certified,
                        const std::string& measure,
                        double value,
                        double sd,
                        int runs) {
    const auto field = [](double number) {
      return std::isfinite(number) ? fmt::format("{:.6g}", number) : std::string();
    };
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n",
                        quoted(cell.row),
                        quoted(cell.group),
                        quoted(cell.data),
                        cell.epsilon ? field(*cell.epsilon) : "",
                        cell.x ? field(*cell.x) : "",
                        what,
                        method,
                        field(certified),
                        measure,
                        field(value),
                        field(sd),
                        runs > 0 ? std::to_string(runs) : "");
  };
  const double none = std::numeric_limits<double>::quiet_NaN();
  for (const auto& cell : spec.cells) {
    for (const auto& [measure, printed] : cell.printed)
      line(cell, "printed", "", none, measure, printed.value, printed.deviation.value_or(none), 0);
    const CellResult* result = results.find(key_of(cell));
    if (!result) continue;
    for (const auto& [what, arm] :
         {std::pair{"recipe", &result->recipe}, std::pair{"best", &result->best}}) {
      if (!*arm || !(*arm)->missing.empty()) continue;
      for (const auto& [measure, value] : (*arm)->measures)
        line(cell,
             what,
             (*arm)->method,
             (*arm)->epsilon,
             measure,
             value.mean,
             value.deviation,
             (*arm)->runs);
    }
  }
  return text;
}

std::string shown(const std::string& measure, double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "–" : "∞";
  const MeasureInfo* info = find_measure(measure);
  const int digits = info ? info->digits : 4;
  // A small number keeps two digits that mean something.
  if (value != 0 && std::abs(value) < 0.5 * std::pow(10.0, -digits))
    return fmt::format("{:.1e}", value);
  return fmt::format("{:.{}f}", value, digits);
}

std::optional<Exponent> fitted_exponent(const std::vector<std::pair<double, double>>& points) {
  std::vector<std::pair<double, double>> logs;
  double mean_x = 0, mean_y = 0;
  for (const auto& [x, y] : points) {
    if (!(x > 0 && y > 0 && std::isfinite(x) && std::isfinite(y))) continue;
    logs.emplace_back(std::log(x), std::log(y));
    mean_x += logs.back().first;
    mean_y += logs.back().second;
  }
  const double n = static_cast<double>(logs.size());
  if (n < 2) return std::nullopt;
  mean_x /= n;
  mean_y /= n;
  double sxx = 0, sxy = 0, syy = 0;
  for (const auto& [x, y] : logs) {
    sxx += (x - mean_x) * (x - mean_x);
    sxy += (x - mean_x) * (y - mean_y);
    syy += (y - mean_y) * (y - mean_y);
  }
  if (!(sxx > 1e-12)) return std::nullopt;
  const double left = std::max(0.0, syy - sxy * sxy / sxx);
  return Exponent{
      sxy / sxx, n > 2 ? std::sqrt(left / (n - 2) / sxx) : 0, static_cast<int>(logs.size())};
}

}  // namespace sotto::study
