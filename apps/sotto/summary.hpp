#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sotto/model/metrics.hpp"
#include "sotto/training/train.hpp"

namespace sotto::app {

/// Accuracy line, AUC and confusion table (or errors, for regression) on standard output.
void print_metrics(const Metrics& metrics,
                   const std::vector<std::string>& class_names,
                   const std::string& what);

/// A number's text with at most 6 significant digits; other texts as they are.
std::string short_number(const std::string& text);

nlohmann::json to_json(const PreparedRun& run, double delta);

}  // namespace sotto::app
