#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "exit_codes.hpp"
#include "printer.hpp"
#include "show_text.hpp"
#include "sotto/audit/noise_alone.hpp"
#include "sotto/audit/verify.hpp"
#include "sotto/audit/verify_copies.hpp"
#include "sotto/core/file.hpp"
#include "sotto/core/json.hpp"
#include "sotto/core/option_names.hpp"
#include "sotto/model/coefficients.hpp"
#include "sotto/model/model_json.hpp"
#include "sotto/objective/network/spec.hpp"
#include "sotto/report/run_tables.hpp"
#include "sotto/task/family.hpp"
#include "verbs.hpp"

namespace sotto::app {
namespace {

struct ShowArguments {
  std::string model_path;
  std::string record_path;
  std::string csv_path;
  std::optional<std::int64_t> top;
  bool json = false;
};

Expected<std::vector<Layer>> layers_of(const Model& model) {
  SOTTO_ASSIGN(const NetworkSpec spec, parse_network(model.network, "the model's network"));
  SOTTO_ASSIGN(const auto shapes, shapes_of(spec));
  const auto ranges = parameter_ranges(spec);
  std::vector<Layer> layers;
  for (std::size_t i = 0; i < spec.layers.size(); ++i)
    layers.push_back({to_text(spec.layers[i]), shapes[i + 1].size(), ranges[i].count()});
  return layers;
}

/// The record of the run that made the model; another run's is refused, and so is one that
/// contradicts itself: what it says of the noise could be wrong.
Expected<nlohmann::json> record_of(const ShowArguments& arguments, const std::string& model_text) {
  SOTTO_ASSIGN(nlohmann::json record, load_record(arguments.record_path));
  SOTTO_ASSIGN(const nlohmann::json model, parse_json(model_text));
  for (const auto& check : check_model(record, model))
    if (check.outcome == RecordCheck::Outcome::kContradiction)
      return fail(ErrorKind::kBadData,
                  fmt::format("{} is not the record of {}: {}: {}.",
                              arguments.record_path,
                              arguments.model_path,
                              check.name,
                              check.detail));
  SOTTO_ASSIGN(const Verification verified, verify_record(record));
  for (const auto& check : verified.checks)
    if (check.outcome == RecordCheck::Outcome::kContradiction)
      return fail(ErrorKind::kBadData,
                  fmt::format("{} contradicts itself: {}: {}. `sotto verify {}` tells all of it.",
                              arguments.record_path,
                              check.name,
                              check.detail,
                              arguments.record_path));
  return record;
}

/// The noise in each weight, as far as the record tells it.
void add_noise(const nlohmann::json& record, Shown& shown) {
  const auto noise = noise_alone(record);
  if (!noise) {
    shown.no_noise = "The noise in the weights is not shown: " + with_flags(noise.error().message);
    return;
  }
  shown.noise = *noise;
  // A recalibrated model has so many times the weights of training.
  const double slope = shown.model.recalibrated ? std::abs(shown.model.recalibrated->slope) : 1;
  for (Coefficient& each : shown.features) each.noise = slope * noise->weight;
  if (shown.intercept) shown.intercept->noise = slope * noise->intercept;
}

Expected<Shown> open(const ShowArguments& arguments) {
  SOTTO_ASSIGN(const std::string text, read_text_file(arguments.model_path, kMostModelBytes));
  Shown shown;
  shown.with_record = !arguments.record_path.empty();
  if (arguments.top) shown.top = static_cast<std::size_t>(*arguments.top);
  SOTTO_ASSIGN(shown.model, model_from_text(text, arguments.model_path));
  SOTTO_TRY(
      family_of(shown.model));  // names that don't fit the weights are refused as by `predict`
  SOTTO_ASSIGN(shown.classes, full_class_names(shown.model));
  const bool linear = shown.model.network.empty();
  std::optional<nlohmann::json> record;
  if (!arguments.record_path.empty()) {
    SOTTO_ASSIGN(record, record_of(arguments, text));
    SOTTO_ASSIGN(const ReportedRun run, reported_run(*record, "", arguments.record_path));
    shown.settings = setting_rows(run);
  }
  if (!linear) {
    SOTTO_ASSIGN(shown.layers, layers_of(shown.model));
    SOTTO_ASSIGN(const NetworkSpec spec, parse_network(shown.model.network, "the model's network"));
    shown.class_weights = spec.class_weights;
    SOTTO_ASSIGN(shown.by_class, class_coefficients(shown.model));
    if (shown.by_class)
      std::ranges::stable_sort(
          shown.by_class->features, std::ranges::greater(), &ClassCoefficient::spread);
    return shown;
  }
  if (const auto& [negative, positive] = shown.model.loss.weights;
      shown.model.loss.weights != ClassWeights{})
    shown.class_weights = {negative, positive};
  SOTTO_ASSIGN(shown.features, coefficients(shown.model));
  if (shown.model.bias) {
    shown.intercept = shown.features.back();
    shown.features.pop_back();
  }
  std::stable_sort(shown.features.begin(), shown.features.end(), [](const auto& a, const auto& b) {
    return std::abs(a.weight) > std::abs(b.weight);
  });
  if (record && shown.model.privacy.is_private) add_noise(*record, shown);
  return shown;
}

Expected<int> show(const ShowArguments& arguments) {
  if (arguments.top && *arguments.top < 1)
    return fail(
        ErrorKind::kUsage,
        fmt::format("--top takes a number of features, 1 or more, but is {}.", *arguments.top));
  if (!arguments.csv_path.empty())
    SOTTO_TRY(check_writable(arguments.csv_path, StreamTargets::kAllowed));
  SOTTO_ASSIGN(const Shown shown, open(arguments));
  if (!arguments.csv_path.empty()) {
    if (!shown.layers.empty() && !shown.by_class)
      return fail(ErrorKind::kUsage,
                  "--csv writes the coefficients of a linear model, but this one is a network.");
    SOTTO_TRY(write_file_atomically(
        arguments.csv_path, csv_text(shown), FileAccess::kPublic, StreamTargets::kAllowed));
  }
  if (arguments.json)
    print_json(to_json(shown));
  else
    print(shown);
  return kSuccess;
}

}  // namespace

Action add_show(Verb& app) {
  auto* verb = app.add_subcommand("show", "what a model promises, and its coefficients by name");
  auto a = std::make_shared<ShowArguments>();
  verb->add_input("MODEL", a->model_path, "a model that `train` or `recalibrate` wrote").required();
  verb->add_input("--record",
                  a->record_path,
                  "the run's record: adds its settings and origins, and the noise in each weight");
  verb->add_option(
          "--top", a->top, "only the K largest weights; default: up to 40, and all in JSON and CSV")
      .type_name("K");
  verb->add_output("--csv", a->csv_path, "write the coefficients to this file, too");
  verb->add_flag("--json", a->json, "print one object for machines");
  verb->footer(R"(
A linear model: its weights from the largest to the smallest. With a schema a numeric column also has its coefficient
per unit of the column, because the model sees (value - min) / (max - min). A linear model of several classes: what
each feature adds to each class. A network: its layers.

With --record, beside each weight: the standard deviation that the noise of training alone would give it, found by
making the run again without its rows. A weight of less than twice that is marked: indistinguishable from 0 at this
epsilon.

  sotto show model.json
  sotto show model.json --top 10 --record run.json
  sotto show model.json --csv coefficients.csv

All of it follows from these two files: showing it costs nothing. docs/guide/evaluate.md says how to read it.)");
  return [a] { return show(*a); };
}

}  // namespace sotto::app
