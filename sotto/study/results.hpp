#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/study/spec.hpp"

namespace sotto::study {

struct Statistic {
  double mean = 0;
  double deviation = 0;  ///< over the runs; 0 with one run
};

/// A point of a curve: mean over the runs and half the width of its 95 % band, by measure.
struct CurvePoint {
  double steps = 0;
  double passes = 0;
  std::map<std::string, Statistic> values;
};

/// What came of one way to fill a cell.
struct ArmResult {
  std::string missing;  ///< why it was not run; everything else is empty then
  std::string method;
  std::map<std::string, Statistic> measures;
  /// Certified: an upper bound on what the noise spends, at the cell's delta. Infinite where
  /// nothing is certified.
  double epsilon = 0;
  /// What the paper's public code would spend where the run avoids a flaw of it.
  std::optional<double> epsilon_of_code;
  bool is_private = true;
  std::string accountant;
  double delta = 0;
  int runs = 0;
  std::int64_t n = 0;
  std::string settings;  ///< `steps 20, step_size 0.5, …`
  std::vector<CurvePoint> curve;
};

struct CellResult {
  std::string key;
  std::optional<ArmResult> recipe;
  std::optional<ArmResult> best;

  /// What came of a way, if it was run.
  const ArmResult* run(Way way) const {
    const auto& arm = way == Way::kRecipe ? recipe : best;
    return arm && arm->missing.empty() ? &*arm : nullptr;
  }
};

/// All that a page or a document is made from, beside the spec.
struct Results {
  std::string name;
  std::string version;
  std::string command;
  std::string machine;  ///< its class, not its name
  bool quick = false;
  std::vector<CellResult> cells;

  const CellResult* find(const std::string& key) const;
};

/// What tells a cell from all others of its reproduction.
std::string key_of(const CellSpec& cell);

nlohmann::json to_json(const ArmResult& arm);
Expected<ArmResult> arm_from_json(const nlohmann::json& json);
nlohmann::json to_json(const Results& results);
Expected<Results> results_from_json(const std::string& text, const std::string& path);

/// One line per cell, way and measure: for spreadsheets.
std::string to_csv(const StudySpec& spec, const Results& results);

/// A number with as many digits as its measure deserves; never in a locale's manner.
std::string shown(const std::string& measure, double value);

/// Exponent of y as a power of x, by least squares of the logarithms, with its standard error (0
/// for two points); none for fewer than two different positive points.
struct Exponent {
  double value = 0;
  double error = 0;
  int points = 0;
};
std::optional<Exponent> fitted_exponent(const std::vector<std::pair<double, double>>& points);

}  // namespace sotto::study
