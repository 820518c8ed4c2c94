#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sotto/model/score_metrics.hpp"

namespace sotto::app {

/// What an evaluation says, on standard output.
void print_evaluation(const Evaluation& evaluation);

nlohmann::json to_json(const Evaluation& evaluation);

/// What whoever reads the numbers must not overlook: classes that are never predicted, and what to
/// do about it.
std::vector<std::string> warnings_of(const Evaluation& evaluation);

}  // namespace sotto::app
