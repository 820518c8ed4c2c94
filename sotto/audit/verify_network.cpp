// What a record says of its network: its text, its name in the options, its number of weights.

#include <fmt/format.h>

#include "sotto/audit/record_checks.hpp"
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
  if (const auto classes = value<json>(record, "class_names"); classes && classes->is_array())
    checks.require("network",
                   spec->loss != NetworkLoss::kSoftmax ||
                       std::ssize(*classes) <= shapes_of(*spec)->back().channels,
                   "it has fewer outputs than there are classes");
  auto name = listed(record, "options", "model");
  if (!name && listed(record, "options", "loss") == "multinomial") name = "softmax";
  if (name && is_builtin_network(*name))
    checks.require("network", is_named(*spec, *name), "its layers are not those of " + *name);
}

}  // namespace sotto
