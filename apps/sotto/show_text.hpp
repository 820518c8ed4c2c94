#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sotto/audit/noise_alone.hpp"
#include "sotto/model/coefficients.hpp"
#include "sotto/model/model.hpp"
#include "sotto/report/run_tables.hpp"

namespace sotto::app {

struct Layer {
  std::string text;
  std::int64_t outputs = 0;
  std::int64_t parameters = 0;
};

/// A model as `show` tells it.
struct Shown {
  Model model;
  std::vector<std::string> classes;
  std::vector<Coefficient> features;  ///< of a linear model, the largest weights first
  std::optional<Coefficient> intercept;
  /// Of a linear model of several classes, those first that tell them apart most.
  std::optional<ClassCoefficients> by_class;
  std::vector<Layer> layers;          ///< of a network
  std::vector<double> class_weights;  ///< as it was trained; empty: 1
  Rows settings;                      ///< of its record
  std::optional<NoiseAlone> noise;    ///< in its weights, with a record
  std::string no_noise;               ///< why there is none
  bool with_record = false;
  std::optional<std::size_t> top;  ///< features; none: up to 40 as text, and all for machines
};

void print(const Shown& shown);
nlohmann::json to_json(const Shown& shown);
/// The weights, one line per feature.
std::string csv_text(const Shown& shown);

}  // namespace sotto::app
