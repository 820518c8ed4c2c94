// What a record says of its network: its text, its name in the options, its number of weights.

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "sotto/audit/record_checks.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/objective/network/spec.hpp"

namespace sotto {
namespace {

using nlohmann::json;

std::optional<NetworkSpec> network_in(const std::string& text) {
  auto spec = parse_network(text, "the network");
  if (!spec || !shapes_of(*spec)) return std::nullopt;
  return *std::move(spec);
}

std::int64_t trained_weights(const NetworkSpec& spec) {
  const auto ranges = parameter_ranges(spec);
  std::int64_t count = 0;
  for (std::size_t k = 0; k < ranges.size(); ++k)
    if (!spec.layers[k].frozen) count += ranges[k].count();
  return count;
}

/// Whether a built-in network of this name has these layers, for some number of classes.
bool is_named(const NetworkSpec& spec, const std::string& name) {
  const std::int64_t outputs = shapes_of(spec)->back().size();
  for (const std::int64_t classes : {outputs, std::int64_t{2}, std::int64_t{0}}) {
    const auto made = builtin_network(name, spec.input.size(), classes);
    if (made && made->layers == spec.layers && made->input == spec.input && made->loss == spec.loss)
      return true;
  }
  return false;
}

/// Numbers with commas between them, one for every channel or one for all, as an option has them;
/// a model file has its own where the option is not given.
void check_normalization(const json& record,
                         const NetworkSpec& spec,
                         bool from_file,
                         Checks& checks) {
  const auto check = [&](const char* name, const std::vector<double>& numbers) {
    const std::string text = listed(record, "options", name).value_or("");
    if (text.empty() && from_file) return;
    std::vector<double> said;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      const auto number = number_in(std::string_view(text).substr(begin, end - begin));
      if (!number)
        return checks.require("options", false, fmt::format("their {} can't be read", name));
      said.push_back(*number);
      begin = end + 1;
    }
    if (said.size() == 1) said.resize(static_cast<std::size_t>(spec.input.channels), said[0]);
    checks.require(
        "network", said == numbers, fmt::format("its {} is not that of its options", name));
  };
  check("mean", spec.mean);
  check("deviation", spec.deviation);
}

/// A model file may have weights of its own, but not beside those that the options ask for.
void check_class_weights(const json& record,
                         const NetworkSpec& spec,
                         bool from_file,
                         Checks& checks) {
  const auto asked = asked_class_weights(record, class_count(spec));
  if (!asked)
    return checks.require("network",
                          from_file || spec.class_weights.empty(),
                          "it weighs classes, which its options don't ask for");
  if (!*asked && asked->error().kind == ErrorKind::kUsage)
    return checks.flag("options", asked->error().message);
  if (!*asked) return checks.require("options", false, asked->error().message);
  checks.require("network",
                 **asked == spec.class_weights,
                 "its class weights are not those that its options ask for");
}

}  // namespace

std::optional<std::int64_t> network_weights(const std::string& text) {
  const auto spec = network_in(text);
  return spec ? std::optional(parameter_count(*spec)) : std::nullopt;
}

void check_network(const json& record, Checks& checks) {
  const bool is_one = value<std::string>(record, "loss") == "network";
  checks.require("network",
                 is_one == record.contains("network"),
                 is_one ? "the record does not say which it is" : "the model is a linear one");
  const auto text = value<std::string>(record, "network");
  if (!text) return;
  const auto spec = network_in(*text);
  if (!spec) return checks.require("network", false, "its text describes none");
  const std::int64_t trained = trained_weights(*spec);
  checks.require("network",
                 value<std::int64_t>(record, "dimension") == trained,
                 fmt::format("it trains {} weights, but the record says another number", trained));
  const bool frozen = std::any_of(
      spec->layers.begin(), spec->layers.end(), [](const auto& layer) { return layer.frozen; });
  const json statement = value<json>(record, "privacy").value_or(json());
  checks.require("start",
                 !frozen || states_no_rule(statement) ||
                     value<bool>(statement, "start_declared_public").value_or(false),
                 "frozen layers keep the weights that they start with, but it names none that were "
                 "declared public");
  if (const auto classes = value<json>(record, "class_names"); classes && classes->is_array())
    checks.require("network",
                   spec->loss != NetworkLoss::kSoftmax ||
                       std::ssize(*classes) <= shapes_of(*spec)->back().channels,
                   "it has fewer outputs than there are classes");
  auto name = listed(record, "options", "model");
  if (!name && listed(record, "options", "loss") == "multinomial") name = "softmax";
  // Without options there is nothing to compare with.
  if (record.contains("options")) {
    const bool from_file = name && !is_builtin_network(*name);
    check_normalization(record, *spec, from_file, checks);
    check_class_weights(record, *spec, from_file, checks);
  }
  if (name && is_builtin_network(*name))
    checks.require("network", is_named(*spec, *name), "its layers are not those of " + *name);
}

}  // namespace sotto
