#pragma once

#include <optional>
#include <string>

#include "sotto/core/error.hpp"
#include "sotto/privacy/event.hpp"
#include "sotto/study/published/formula.hpp"

namespace sotto::app {

/// `sotto account --curve`: delta over epsilon and the trade-off function, as JSON on standard
/// output or, if `html_path` is given, as a page with charts.
Expected<int> account_curve(const Event& event,
                            const std::string& neighbours,
                            std::optional<double> largest_epsilon,
                            const std::string& html_path);

/// `sotto account --formula METHOD`: the noise that a paper prints, and what it really spends.
Expected<int> account_formula(const std::string& method,
                              const study::FormulaInputs& inputs,
                              bool json);

}  // namespace sotto::app
