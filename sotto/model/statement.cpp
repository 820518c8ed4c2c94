#include "sotto/model/statement.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sotto/core/directed_text.hpp"
#include "sotto/core/json.hpp"
#include "sotto/model/model_json.hpp"
#include "sotto/model/model_kind.hpp"

namespace sotto {
namespace {

std::string privacy_sentence(const PrivacyStatement& privacy) {
  if (!privacy.is_private) return "Trained by Sotto without differential privacy.";
  return fmt::format(
      "Trained by Sotto with differential privacy: epsilon {}, delta {}, {}, unit {}{}.",
      text_up(privacy.epsilon),
      text_up(privacy.delta),
      to_string(privacy.neighbours),
      privacy.unit,
      privacy.insecure_seed || privacy.unsafe_diagnostics
          ? " (not a guarantee: insecure seed or unsafe diagnostics)"
          : "");
}

/// As in the model file.
nlohmann::json recalibration_json(const Recalibration& done) {
  return {{"intercept", done.intercept},
          {"method", std::string(to_string(done.method))},
          {"rows", done.rows},
          {"slope", done.slope}};
}

}  // namespace

std::string statement_text(const Model& model) {
  std::string text = privacy_sentence(model.privacy);
  if (model.privacy.start_declared_public)
    text += " Its training started from weights that were declared public.";
  if (model.recalibrated)
    text += " Its scores were recalibrated on rows that were declared public.";
  return text;
}

Expected<std::map<std::string, std::string>> statement_facts(const Model& model) {
  SOTTO_ASSIGN(const ModelKind kind, kind_of(model));
  std::map<std::string, std::string> facts = {{"sotto.privacy", json_text(to_json(model.privacy))},
                                              {"sotto.method", model.method},
                                              {"sotto.loss", kind.loss}};
  if (model.recalibrated)
    facts["sotto.recalibrated"] = json_text(recalibration_json(*model.recalibrated));
  if (!model.class_names.empty())
    facts["sotto.class_names"] = json_text(nlohmann::json(model.class_names));
  if (!model.feature_names.empty())
    facts["sotto.feature_names"] = json_text(nlohmann::json(model.feature_names));
  return facts;
}

}  // namespace sotto
