#include "show_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "printer.hpp"
#include "sotto/model/model_json.hpp"
#include "sotto/report/privacy_words.hpp"

namespace sotto::app {
namespace {

constexpr std::size_t kMostByDefault = 40;  // what a screen shows
constexpr double kClearOfNoise = 2;         // standard deviations

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

/// Of so many features.
std::size_t count_shown(const Shown& shown, std::size_t features, std::size_t otherwise) {
  return std::min(features, shown.top.value_or(otherwise));
}

/// What the column of noise says, and what it does not (docs/guide/evaluate.md).
void print_noise(const Shown& shown) {
  if (!shown.model.privacy.is_private) return;
  if (!shown.with_record) {
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

void print_coefficients(const Shown& shown) {
  const std::size_t count = count_shown(shown, shown.features.size(), kMostByDefault);
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
  print_noise(shown);
}

/// How a column of a class is headed.
std::string class_head(const Shown& shown, std::size_t c) {
  return c < shown.classes.size() ? shown.classes[c] : fmt::format("class {}", c);
}

void print_by_class(const Shown& shown) {
  const auto& features = shown.by_class->features;
  const std::size_t count = count_shown(shown, features.size(), kMostByDefault);
  const std::size_t classes = features.front().weights.size();
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < classes; ++c)
    widths.push_back(std::max<std::size_t>(10, class_head(shown, c).size()));
  tell("\n");
  for (std::size_t c = 0; c < classes; ++c) tell("{:>{}} ", class_head(shown, c), widths[c]);
  tell("  feature\n");
  const auto row = [&](const ClassCoefficient& each) {
    for (std::size_t c = 0; c < classes; ++c)
      tell("{:>{}} ", fmt::format("{:.5g}", each.weights[c]), widths[c]);
    tell("  {}\n", each.name);
  };
  for (std::size_t k = 0; k < count; ++k) row(features[k]);
  if (shown.by_class->intercept) row(*shown.by_class->intercept);
  if (count < features.size())
    tell("the {} of {} features that tell classes apart most; --top {} shows all\n",
         count,
         features.size(),
         features.size());
  tell(
      "\nWhat a feature adds to each class's score, against the mean of all classes; a numeric "
      "column\nover its whole declared range. e^(difference of two scores) is the ratio of the two "
      "probabilities.\n");
  if (shown.model.privacy.is_private)
    tell(
        "The weights contain the noise of training. Its size is told (--record) only of models "
        "with one weight per feature.\n");
}

void print_layers(const Shown& shown) {
  tell("\n{:>12} {:>12}   {}\n", "parameters", "outputs", "layer");
  for (const Layer& layer : shown.layers)
    tell("{:>12} {:>12}   {}\n", layer.parameters, layer.outputs, layer.text);
  tell("{:>12} {:>12}   all\n", shown.model.w.size(), "");
}

std::string kind_of(const Shown& shown) {
  const Model& model = shown.model;
  if (model.network.empty())
    return fmt::format("linear, loss {}, regularizer {}, {} features{}, by {}",
                       to_string(model.loss),
                       model.regularizer,
                       shown.features.size(),
                       model.bias ? " and an intercept" : "",
                       model.method);
  if (shown.by_class)
    return fmt::format(
        "linear, one score per class, regularizer {}, by {}", model.regularizer, model.method);
  return fmt::format("network, {} {}, regularizer {}, by {}",
                     shown.layers.size(),
                     shown.layers.size() == 1 ? "layer" : "layers",
                     model.regularizer,
                     model.method);
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

nlohmann::json to_json(const ClassCoefficient& each) {
  return {{"feature", each.name}, {"weights", each.weights}};
}

nlohmann::json by_class_json(const Shown& shown) {
  const auto& features = shown.by_class->features;
  nlohmann::json json = nlohmann::json::array();
  const std::size_t count = count_shown(shown, features.size(), features.size());
  for (std::size_t k = 0; k < count; ++k) json.push_back(to_json(features[k]));
  return json;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

std::string by_class_csv(const Shown& shown) {
  const auto& features = shown.by_class->features;
  std::string text = "feature";
  for (std::size_t c = 0; c < features.front().weights.size(); ++c)
    text += ',' + csv_field(class_head(shown, c));
  text += '\n';
  const auto line = [&](const ClassCoefficient& each) {
    text += fmt::format("{},{}\n", csv_field(each.name), fmt::join(each.weights, ","));
  };
  const std::size_t count = count_shown(shown, features.size(), features.size());
  for (std::size_t k = 0; k < count; ++k) line(features[k]);
  if (shown.by_class->intercept) line(*shown.by_class->intercept);
  return text;
}

}  // namespace

void print(const Shown& shown) {
  const Model& model = shown.model;
  const PrivacyStatement& privacy = model.privacy;
  const auto fact = [](const char* name, const std::string& text) {
    tell("{:<14} {}\n", name, text);
  };
  fact("model", kind_of(shown));
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
    print_coefficients(shown);
  else if (!shown.by_class)
    print_layers(shown);
  else
    print_by_class(shown);
  if (shown.settings.empty()) return;
  std::size_t widths[] = {7, 5};
  for (const auto& row : shown.settings)
    for (const std::size_t k : {0, 1}) widths[k] = std::max(widths[k], row[k].text.size());
  tell("\n{:<{}}  {:<{}}  {}\n", "setting", widths[0], "value", widths[1], "origin");
  for (const auto& row : shown.settings)
    tell("{:<{}}  {:<{}}  {}\n", row[0].text, widths[0], row[1].text, widths[1], row[2].text);
}

nlohmann::json to_json(const Shown& shown) {
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
    const std::size_t count = count_shown(shown, shown.features.size(), shown.features.size());
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
    if (shown.by_class) {
      json["coefficients"] = by_class_json(shown);
      if (const auto& intercept = shown.by_class->intercept) json["intercept"] = intercept->weights;
    }
  }
  for (const auto& row : shown.settings)
    json["settings"].push_back(
        {{"name", row[0].text}, {"value", row[1].text}, {"origin", row[2].text}});
  return json;
}

std::string csv_text(const Shown& shown) {
  if (shown.by_class) return by_class_csv(shown);
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
  const std::size_t count = count_shown(shown, shown.features.size(), shown.features.size());
  for (std::size_t k = 0; k < count; ++k) line(shown.features[k]);
  if (shown.intercept) line(*shown.intercept);
  return text;
}

}  // namespace sotto::app
