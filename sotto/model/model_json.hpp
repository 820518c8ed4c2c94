#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sotto/model/metrics.hpp"
#include "sotto/model/model.hpp"

namespace sotto {

// Parts of model files and records. Programs see the files' texts only (to_text), so that whoever
// uses the installed library needs no JSON library.

nlohmann::json to_json(const PrivacyStatement& statement);
Expected<PrivacyStatement> privacy_from_json(const nlohmann::json& json);

nlohmann::json to_json(const Certificate& certificate);
Expected<Certificate> certificate_from_json(const nlohmann::json& json);

Expected<Recalibration> recalibration_from_json(const nlohmann::json& json);

nlohmann::json to_json(const Metrics& metrics);

}  // namespace sotto
