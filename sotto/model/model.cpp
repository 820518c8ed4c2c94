#include "sotto/model/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "sotto/core/file.hpp"
#include "sotto/core/json.hpp"
#include "sotto/core/text.hpp"
#include "sotto/model/model_json.hpp"
#include "sotto/privacy/number_json.hpp"
#include "sotto/privacy/seed_mark.hpp"

namespace sotto {

std::string seed_mark(const PrivacyStatement& statement) {
  return seed_mark(statement.insecure_seed);
}

nlohmann::json to_json(const PrivacyStatement& statement) {
  nlohmann::json json = {{"epsilon", number_or_null(statement.epsilon)},
                         {"delta", statement.delta},
                         {"neighbours", to_string(statement.neighbours)},
                         {"unit", statement.unit},
                         {"public_n", std::int64_t{statement.public_n}},
                         {"accountant", statement.accountant},
                         {"rule", statement.rule},
                         {"events", statement.events},
                         {"noise_samples", statement.noise_samples},
                         {"insecure_seed", statement.insecure_seed},
                         {"unsafe_diagnostics", statement.unsafe_diagnostics},
                         {"test_declared_public", statement.test_declared_public}};
  // Whoever knows the seed can take the noise away again.
  state_private(json, statement.is_private, statement.insecure_seed);
  if (statement.most_rows > 0) json["most_rows"] = statement.most_rows;
  if (statement.start_declared_public) json["start_declared_public"] = true;
  if (const auto& journal = statement.journal)
    json["journal"] = {
        {"run", journal->run}, {"line", journal->head.line}, {"chain", journal->head.chain}};
  return json;
}

Expected<PrivacyStatement> privacy_from_json(const nlohmann::json& json) {
  PrivacyStatement statement;
  statement.is_private =
      json.at("private").get<bool>() || json.value("private_if_seed_secret", false);
  const auto& epsilon = json.at("epsilon");
  statement.epsilon =
      epsilon.is_null() ? std::numeric_limits<double>::infinity() : epsilon.get<double>();
  statement.delta = json.at("delta").get<double>();
  const auto relation = parse_relation(json.at("neighbours").get<std::string>());
  if (!relation)  // nobody typed it
    return fail(ErrorKind::kBadData, "the privacy statement: " + relation.error().message);
  statement.neighbours = *relation;
  statement.unit = json.at("unit").get<std::string>();
  statement.public_n = json.at("public_n").get<std::int64_t>();
  statement.accountant = json.at("accountant").get<std::string>();
  statement.events = json.at("events").get<std::string>();
  statement.noise_samples = json.at("noise_samples").get<std::int64_t>();
  statement.insecure_seed = json.at("insecure_seed").get<bool>();
  statement.unsafe_diagnostics = json.at("unsafe_diagnostics").get<bool>();
  if (const auto journal = json.find("journal"); journal != json.end())
    statement.journal = {
        journal->at("run").get<std::string>(),
        {journal->at("line").get<std::int64_t>(), journal->at("chain").get<std::string>()}};
  // Version 0.1 had neither.
  statement.rule = json.value("rule", "");
  statement.test_declared_public = json.value("test_declared_public", false);
  if (const auto most = json.find("most_rows"); most != json.end()) {
    statement.most_rows = most->is_number_integer() ? most->get<std::int64_t>() : 0;
    if (statement.most_rows < 1)
      return fail(ErrorKind::kBadData,
                  "the privacy statement: most_rows is no number of a person's rows. Restore the "
                  "file that train wrote.");
  }
  statement.start_declared_public = json.value("start_declared_public", false);
  return statement;
}

nlohmann::json to_json(const Certificate& c) {
  return {{"verdict", to_string(c.verdict)},
          {"reason", c.reason},
          {"confidence", c.confidence},
          {"gradient_tolerance", c.gradient_tolerance},
          {"curvature_tolerance", c.curvature_tolerance},
          {"gradient_norm", c.gradient_norm},
          {"gradient_upper", number_or_null(c.gradient_upper)},
          {"gradient_floor", c.gradient_floor},
          {"curvature_lower", number_or_null(c.curvature_lower)},
          {"curvature_floor", c.curvature_floor},
          {"curvature_by_algebra", c.curvature_by_algebra}};
}

Expected<Certificate> certificate_from_json(const nlohmann::json& json) {
  Certificate c;
  SOTTO_ASSIGN(
      c.verdict,
      named_in_file("a certificate's verdict", json.at("verdict").get<std::string>(), kVerdicts));
  c.reason = json.at("reason").get<std::string>();
  c.confidence = json.at("confidence").get<double>();
  c.gradient_tolerance = json.at("gradient_tolerance").get<double>();
  c.curvature_tolerance = json.at("curvature_tolerance").get<double>();
  c.gradient_norm = json.at("gradient_norm").get<double>();
  // Nothing was found where a bound is null, or where version 0.2.0 wrote 0 beside a refusal.
  const auto bound = [&](const char* name, double& value) {
    if (const auto& written = json.at(name);
        c.verdict != Certificate::Verdict::kRefused && !written.is_null())
      value = written.get<double>();
  };
  bound("gradient_upper", c.gradient_upper);
  c.gradient_floor = json.at("gradient_floor").get<double>();
  bound("curvature_lower", c.curvature_lower);
  c.curvature_floor = json.at("curvature_floor").get<double>();
  c.curvature_by_algebra = json.at("curvature_by_algebra").get<bool>();
  return c;
}

Expected<Recalibration> recalibration_from_json(const nlohmann::json& json) {
  Recalibration result;
  SOTTO_ASSIGN(
      result.method,
      named_in_file(
          "a recalibration's method", json.at("method").get<std::string>(), kRecalibrations));
  result.slope = json.at("slope").get<double>();
  result.intercept = json.at("intercept").get<double>();
  result.rows = json.at("rows").get<std::int64_t>();
  return result;
}

namespace {

/// What no program writes; null: nothing.
const char* absurdity(const Model& model) {
  const PrivacyStatement& privacy = model.privacy;
  if (!(privacy.epsilon >= 0)) return "its epsilon is below 0";
  if (!(privacy.delta >= 0 && privacy.delta <= 1)) return "its delta is no probability";
  if (privacy.public_n < 0) return "it was trained on less than no units";
  if (privacy.most_rows < 0 || (privacy.most_rows > 0 && privacy.unit == "row"))
    return "it limits the rows per person, but its units are no persons";
  if (!(model.row_norm >= 0)) return "its bound on row norms is below 0";
  return nullptr;
}

}  // namespace

Expected<Model> model_from_text(const std::string& text, const std::string& path) {
  const auto json = json_or_discarded(text);
  if (json.is_discarded())
    return fail(ErrorKind::kBadData,
                fmt::format("{} is not a complete model file: it is cut short or not JSON. Train "
                            "again, or copy the file again.",
                            path));
  if (!json.is_object() || !json.contains("sotto_model") ||
      !json["sotto_model"].is_number_integer())
    return fail(
        ErrorKind::kBadData,
        fmt::format("{} is JSON but not a Sotto model. `sotto train` writes models.", path));
  if (const auto version = json["sotto_model"].get<std::int64_t>(); version > kModelVersion)
    return fail(
        ErrorKind::kBadData,
        fmt::format("{} is a model of version {}, newer than the {} that this program reads. "
                    "Update Sotto.",
                    path,
                    version,
                    kModelVersion));
  try {
    Model model;
    model.method = json.at("method").get<std::string>();
    SOTTO_ASSIGN(model.loss, parse_loss(json.at("loss").get<std::string>()));
    model.regularizer = json.at("regularizer").get<std::string>();
    model.bias = json.at("bias").get<bool>();
    model.row_norm = json.at("row_norm").get<double>();
    model.class_names = json.at("class_names").get<std::vector<std::string>>();
    model.feature_names = json.at("feature_names").get<std::vector<std::string>>();
    for (const auto* names : {&model.class_names, &model.feature_names})
      if (std::any_of(names->begin(), names->end(), has_control_characters))
        return fail(ErrorKind::kBadData,
                    fmt::format("{} has a name with a control character, which could forge a line "
                                "of its predictions. Train again.",
                                path));
    model.schema = json.at("schema").get<std::string>();
    model.network = json.value("network", "");
    SOTTO_ASSIGN(model.privacy, privacy_from_json(json.at("privacy")));
    if (json.contains("certificate")) {
      SOTTO_ASSIGN(model.certificate, certificate_from_json(json.at("certificate")));
    }
    if (json.contains("recalibrated")) {
      SOTTO_ASSIGN(model.recalibrated, recalibration_from_json(json.at("recalibrated")));
    }
    if (const char* absurd = absurdity(model))
      return fail(ErrorKind::kBadData,
                  fmt::format("{} is no model that `train` wrote: {}. Somebody changed the file: "
                              "train again, or take the one that `train` wrote.",
                              path,
                              absurd));
    const auto weights = json.at("weights").get<std::vector<double>>();
    model.w = Eigen::Map<const Vector>(weights.data(), static_cast<Eigen::Index>(weights.size()));
    return model;
  } catch (const nlohmann::json::exception&) {
    return fail(ErrorKind::kBadData,
                fmt::format("{} misses parts that a model has. Train again.", path));
  }
}

Expected<Model> load_model(const std::string& path) {
  SOTTO_ASSIGN(const std::string text, read_text_file(path, kMostModelBytes));
  return model_from_text(text, path);
}

}  // namespace sotto
