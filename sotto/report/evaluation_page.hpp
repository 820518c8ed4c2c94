#pragma once

#include <string>

#include "sotto/model/model.hpp"
#include "sotto/model/score_metrics.hpp"

namespace sotto {

/// How good a model is on public rows (HTML): curves, reliability, thresholds and confusion, below
/// a sentence that says for which rows such a page may be made. `model` and `rows` are names.
std::string evaluation_page(const Evaluation& evaluation,
                            const PrivacyStatement& privacy,
                            const std::string& model,
                            const std::string& rows);

}  // namespace sotto
