#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "exit_codes.hpp"
#include "printer.hpp"
#include "sotto/audit/noise_alone.hpp"
#include "sotto/audit/verify_copies.hpp"
#include "sotto/core/file.hpp"
#include "sotto/core/json.hpp"
#include "sotto/core/option_names.hpp"
#include "sotto/model/coefficients.hpp"
#include "sotto/model/model_json.hpp"
#include "sotto/objective/network/spec.hpp"
#include "sotto/report/privacy_words.hpp"
#include "sotto/report/run_tables.hpp"
#include "verbs.hpp"

namespace sotto::app {
namespace {

constexpr std::size_t kMostByDefault = 40;  // what a screen shows
constexpr double kClearOfNoise = 2;         // standard deviations

struct ShowArguments {
  std::string model_path;
  std::string record_path;
  std::string csv_path;
  std::optional<std::int64_t> top;
  bool json = false;
};

struct Layer {
  std::string text;
  std::int64_t outputs = 0;
  std::int64_t parameters = 0;
};

/// A model as it is shown.
struct Shown {
  Model model;
  std::vector<std::string> classes;
  std::vector<Coefficient> features;  ///< of a linear model, the largest weights first
  std::optional<Coefficient> intercept;
  std::vector<Layer> layers;          ///< of a network
  std::vector<double> class_weights;  ///< as it was trained; empty: 1
  Rows settings;                      ///< of its record
  std::optional<NoiseAlone> noise;    ///< in its weights, with a record
  std::string no_noise;               ///< why there is none
};

bool lost_in_noise(const Coefficient& each) {
  return each.noise && std::abs(each.weight) < kClearOfNoise * *each.noise;
}

std::string guarantee(const PrivacyStatement& privacy) {
  if (!privacy.is_private)
    return "None: the method adds no noise. Treat the model like its training data.";
  ReportedRun run;
  run.record.privacy = privacy;
  return privacy_words(run).headline;
}

std::string amount(const PrivacyStatement& privacy) {
  return fmt::format("epsilon at most {}{} at delta {} ({}, {} accountant, {} {})",
                     rounded_up(privacy.epsilon),
                     seed_mark(privacy),
                     rounded_up(privacy.delta),
                     to_string(privacy.neighbours),
                     privacy.accountant,
                     with_commas(privacy.public_n),
                     privacy.unit == "row" ? "rows" : "persons");
}

Expected<std::vector<Layer>> layers_of(const Model& model) {
  SOTTO_ASSIGN(const NetworkSpec spec, parse_network(model.network, "the model's network"));
  SOTTO_ASSIGN(const auto shapes, shapes_of(spec));
  const auto ranges = parameter_ranges(spec);
  std::vector<Layer> layers;
  for (std::size_t i = 0; i < spec.layers.size(); ++i)
    layers.push_back({to_text(spec.layers[i]), shapes[i + 1].size(), ranges[i].count()});
  return layers;
}

/// The record of the run that made the model; another run's is refused.
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
  const double slope = shown.model.recalibrated ? shown.model.recalibrated->slope : 1;
  for (Coefficient& each : shown.features) each.noise = slope * noise->weight;
  if (shown.intercept) shown.intercept->noise = slope * noise->intercept;
}

Expected<Shown> open(const ShowArguments& arguments) {
  SOTTO_ASSIGN(const std::string text, read_text_file(arguments.model_path, kMostModelBytes));
  Shown shown;
  SOTTO_ASSIGN(shown.model, model_from_text(text, arguments.model_path));
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

/// How often the rows of each class counted in training; empty: all alike.
std::string weights_text(const Shown& shown) {
  std::string text;
  for (std::size_t c = 0; c < shown.class_weights.size(); ++c)
    text += fmt::format("{}{} x {:g}",
                        c > 0 ? ", " : "",
                        c < shown.classes.size() ? shown.classes[c] : std::to_string(c),
                        shown.class_weights[c]);
  if (text.empty()) return text;
  return text + (shown.model.recalibrated ? ": in training; probabilities are recalibrated"
                                          : ": probabilities are those of rows so weighted");
}

std::size_t count_shown(const ShowArguments& arguments, const Shown& shown, std::size_t otherwise) {
  return std::min(shown.features.size(),
                  arguments.top ? static_cast<std::size_t>(*arguments.top) : otherwise);
}

/// What the column of noise says, and what it does not (docs/guide/evaluate.md).
void print_noise(const ShowArguments& arguments, const Shown& shown) {
  if (!shown.model.privacy.is_private) return;
  if (arguments.record_path.empty()) {
    tell(
        "\nThe weights contain the noise of training. How much of each it can make is shown with "
        "--record RUN, the record of this model's run.\n");
    return;
  }
  if (!shown.noise) {
    tell("\n{}\n", shown.no_noise);
    return;
  }
  const auto lost = std::count_if(shown.features.begin(), shown.features.end(), lost_in_noise);
  tell(
      "\nnoise: the standard deviation of what the noise alone makes of a weight, if the rows say "
      "nothing.\n");
  if (!shown.noise->bound)
    tell("For this model it is a yardstick, not a bound: the rows can make the noise larger.\n");
  else if (shown.intercept && shown.noise->intercept != shown.noise->weight)
    tell("To first order no weight's noise is larger than the intercept's, whatever the rows.\n");
  else
    tell("To first order the noise in this model is not larger, whatever the rows.\n");
  tell("*: indistinguishable from 0 at this epsilon, less than {:g} x noise: {} of {} features\n",
       kClearOfNoise,
       lost,
       shown.features.size());
}

void print_coefficients(const ShowArguments& arguments, const Shown& shown) {
  const std::size_t count = count_shown(arguments, shown, kMostByDefault);
  const bool units = std::any_of(shown.features.begin(),
                                 shown.features.end(),
                                 [](const Coefficient& each) { return each.bounds.has_value(); });
  const auto line = [&](const std::string(&columns)[4], const std::string& name) {
    tell("{:>12} ", columns[0]);
    if (shown.noise) tell("{:>9} ", columns[1]);
    if (units) tell("{:>12} ", columns[2]);
    if (units && shown.noise) tell("{:>9} ", columns[3]);
    tell("  {}\n", name);
  };
  const auto row = [&](const Coefficient& each) {
    std::string name = each.name;
    std::string columns[4] = {fmt::format("{:.5g}", each.weight)};
    if (each.noise) columns[1] = fmt::format("{:.2g}", *each.noise);
    if (const auto& bounds = each.bounds) {
      columns[2] = fmt::format("{:.5g}", each.per_unit());
      if (each.noise) columns[3] = fmt::format("{:.2g}", each.per_unit(*each.noise));
      name += fmt::format(" ({:g} to {:g})", bounds->first, bounds->second);
    }
    line(columns, lost_in_noise(each) ? name + " *" : name);
  };
  tell("\n");
  line({"weight", "noise", "per unit", "noise"}, "feature");
  for (std::size_t k = 0; k < count; ++k) row(shown.features[k]);
  if (shown.intercept) row(*shown.intercept);
  if (count < shown.features.size())
    tell("the {} largest of {} features; --top {} shows all\n",
         count,
         shown.features.size(),
         shown.features.size());
  if (units)
    tell(
        "\nweight: what the feature adds to the score, a numeric column over its whole declared "
        "range;\nper unit: what one more of the column's own unit adds.\n");
  if (shown.model.loss.kind == LossKind::kPoisson)
    tell("\nThe score is the logarithm of the rate: a feature of weight w multiplies it by e^w.\n");
  print_noise(arguments, shown);
}

void print_layers(const Shown& shown) {
  tell("\n{:>12} {:>12}   {}\n", "parameters", "outputs", "layer");
  for (const Layer& layer : shown.layers)
    tell("{:>12} {:>12}   {}\n", layer.parameters, layer.outputs, layer.text);
  tell("{:>12} {:>12}   all\n", shown.model.w.size(), "");
}

void print(const ShowArguments& arguments, const Shown& shown) {
  const Model& model = shown.model;
  const PrivacyStatement& privacy = model.privacy;
  const auto fact = [](const char* name, const std::string& text) {
    tell("{:<14} {}\n", name, text);
  };
  fact("model",
       model.network.empty() ? fmt::format("linear, loss {}, regularizer {}, {} features{}, by {}",
                                           to_string(model.loss),
                                           model.regularizer,
                                           shown.features.size(),
                                           model.bias ? " and an intercept" : "",
                                           model.method)
                             : fmt::format("network, {} {}, regularizer {}, by {}",
                                           shown.layers.size(),
                                           shown.layers.size() == 1 ? "layer" : "layers",
                                           model.regularizer,
                                           model.method));
  fact("guarantee", guarantee(privacy));
  if (privacy.is_private) fact("", amount(privacy));
  if (privacy.most_rows > 0)
    fact("", fmt::format("at most {} rows per person, the first ones", privacy.most_rows));
  if (privacy.insecure_seed) fact("", "NOT private: the seed is known, and with it the noise.");
  if (privacy.unsafe_diagnostics)
    fact("", "NOT private: true training values were printed (--unsafe-diagnostics).");
  if (privacy.start_declared_public)
    fact("start",
         "weights that were declared public. If they were trained on the same people, they are "
         "owed the sum of both.");
  if (!shown.classes.empty())
    fact("classes",
         shown.classes.size() == 2 && model.network.empty()
             ? fmt::format(
                   "{} (negative scores), {} (positive scores)", shown.classes[0], shown.classes[1])
             : fmt::format("{}", fmt::join(shown.classes, ", ")));
  if (const std::string weights = weights_text(shown); !weights.empty()) fact("weighted", weights);
  if (model.row_norm > 0)
    fact("rows", fmt::format("those longer than {:g} are scaled down to it", model.row_norm));
  if (const auto& done = model.recalibrated)
    fact("recalibrated",
         fmt::format("{} on {} public rows: {:.6g} x score {} {:.6g}",
                     to_string(done->method),
                     done->rows,
                     done->slope,
                     done->intercept < 0 ? "-" : "+",
                     std::abs(done->intercept)));
  if (model.certificate) fact("certificate", to_string(*model.certificate));
  if (model.network.empty())
    print_coefficients(arguments, shown);
  else
    print_layers(shown);
  if (shown.settings.empty()) return;
  std::size_t widths[] = {7, 5};
  for (const auto& row : shown.settings)
    for (const std::size_t k : {0, 1}) widths[k] = std::max(widths[k], row[k].text.size());
  tell("\n{:<{}}  {:<{}}  {}\n", "setting", widths[0], "value", widths[1], "origin");
  for (const auto& row : shown.settings)
    tell("{:<{}}  {:<{}}  {}\n", row[0].text, widths[0], row[1].text, widths[1], row[2].text);
}

nlohmann::json to_json(const Coefficient& each) {
  nlohmann::json json = {{"feature", each.name}, {"weight", each.weight}};
  if (each.bounds) {
    json["per_unit"] = each.per_unit();
    json["min"] = each.bounds->first;
    json["max"] = each.bounds->second;
  }
  if (!each.noise) return json;
  json["noise"] = *each.noise;
  if (each.bounds) json["noise_per_unit"] = each.per_unit(*each.noise);
  json["indistinguishable_from_0"] = lost_in_noise(each);
  return json;
}

nlohmann::json to_json(const ShowArguments& arguments, const Shown& shown) {
  const Model& model = shown.model;
  nlohmann::json json = {{"method", model.method},
                         {"regularizer", model.regularizer},
                         {"classes", shown.classes},
                         {"guarantee", guarantee(model.privacy)},
                         {"privacy", sotto::to_json(model.privacy)},
                         {"row_norm", model.row_norm},
                         {"weights", model.w.size()}};
  if (!shown.class_weights.empty()) json["class_weights"] = shown.class_weights;
  if (const auto& done = model.recalibrated)
    json["recalibrated"] = {{"method", to_string(done->method)},
                            {"slope", done->slope},
                            {"intercept", done->intercept},
                            {"rows", done->rows}};
  if (model.certificate) json["certificate"] = sotto::to_json(*model.certificate);
  if (model.network.empty()) {
    json["loss"] = to_string(model.loss);
    json["features"] = shown.features.size();
    json["coefficients"] = nlohmann::json::array();
    const std::size_t count = count_shown(arguments, shown, shown.features.size());
    for (std::size_t k = 0; k < count; ++k)
      json["coefficients"].push_back(to_json(shown.features[k]));
    if (shown.intercept) json["intercept"] = shown.intercept->weight;
    if (shown.noise) {
      json["noise"] = {{"weight", shown.noise->weight},
                       {"bound_to_first_order", shown.noise->bound}};
      if (shown.intercept) json["noise"]["intercept"] = shown.noise->intercept;
    } else if (!shown.no_noise.empty()) {
      json["no_noise"] = shown.no_noise;
    }
  } else {
    json["network"] = model.network;
    json["layers"] = nlohmann::json::array();
    for (const Layer& layer : shown.layers)
      json["layers"].push_back(
          {{"layer", layer.text}, {"outputs", layer.outputs}, {"parameters", layer.parameters}});
  }
  for (const auto& row : shown.settings)
    json["settings"].push_back(
        {{"name", row[0].text}, {"value", row[1].text}, {"origin", row[2].text}});
  return json;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

std::string csv_text(const ShowArguments& arguments, const Shown& shown) {
  std::string text = "feature,weight,per_unit,min,max";
  text += shown.noise ? ",noise,noise_per_unit,indistinguishable_from_0\n" : "\n";
  const auto line = [&](const Coefficient& each) {
    text += fmt::format("{},{}", csv_field(each.name), each.weight);
    text += each.bounds
                ? fmt::format(",{},{},{}", each.per_unit(), each.bounds->first, each.bounds->second)
                : ",,,";
    if (each.noise)
      text += fmt::format(",{},{},{}",
                          *each.noise,
                          each.bounds ? fmt::to_string(each.per_unit(*each.noise)) : "",
                          lost_in_noise(each) ? "yes" : "no");
    text += '\n';
  };
  const std::size_t count = count_shown(arguments, shown, shown.features.size());
  for (std::size_t k = 0; k < count; ++k) line(shown.features[k]);
  if (shown.intercept) line(*shown.intercept);
  return text;
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
    if (!shown.layers.empty())
      return fail(ErrorKind::kUsage,
                  "--csv writes the coefficients of a linear model, but this one is a network.");
    SOTTO_TRY(write_file_atomically(arguments.csv_path,
                                    csv_text(arguments, shown),
                                    FileAccess::kPublic,
                                    StreamTargets::kAllowed));
  }
  if (arguments.json)
    print_json(to_json(arguments, shown));
  else
    print(arguments, shown);
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
per unit of the column, because the model sees (value - min) / (max - min). A network: its layers.

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
