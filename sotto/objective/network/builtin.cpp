// The networks that Sotto knows by name.

#include <fmt/format.h>

#include <charconv>
#include <string>

#include "sotto/core/check.hpp"
#include "sotto/objective/network/spec.hpp"

namespace sotto {
namespace {

constexpr std::string_view kMlp = "mlp:";

struct Image {
  const char* name;
  ImageShape input;
  std::vector<const char*> layers;  ///< the last linear layer, one output a class, follows
};

/// [WJEG23] and [ADP21] name these networks; the widths of the fully connected layers of cifar-cnn6
/// are ours.
const std::vector<Image>& images() {
  static const std::vector<Image> known = {{"mnist-cnn4",
                                            {1, 28, 28},
                                            {"conv 16 8 stride 2 pad 3",
                                             "relu",
                                             "maxpool 2 stride 1",
                                             "conv 32 4 stride 2",
                                             "relu",
                                             "maxpool 2 stride 1",
                                             "flatten",
                                             "linear 32",
                                             "relu"}},
                                           {"cifar-cnn5",
                                            {3, 32, 32},
                                            {"conv 6 5",
                                             "relu",
                                             "maxpool 2",
                                             "conv 16 5",
                                             "relu",
                                             "maxpool 2",
                                             "flatten",
                                             "linear 120",
                                             "relu",
                                             "linear 84",
                                             "relu"}},
                                           {"cifar-cnn6",
                                            {3, 32, 32},
                                            {"conv 32 3 pad 1",
                                             "relu",
                                             "maxpool 2",
                                             "conv 64 3 pad 1",
                                             "relu",
                                             "maxpool 2",
                                             "conv 128 3 pad 1",
                                             "relu",
                                             "maxpool 2",
                                             "flatten",
                                             "linear 128",
                                             "relu",
                                             "linear 64",
                                             "relu"}}};
  return known;
}

LayerSpec layer(const std::string& text) {
  auto parsed = parse_layer(text);
  SOTTO_CHECK(parsed.has_value());
  return *parsed;
}

/// One output a class, or one number where two classes or none ask for no more.
void finish(NetworkSpec& spec, std::int64_t classes) {
  spec.loss = classes == 0 ? NetworkLoss::kSquared : NetworkLoss::kSoftmax;
  spec.layers.push_back(layer(fmt::format("linear {}", classes == 0 ? 1 : classes)));
}

}  // namespace

bool is_builtin_network(const std::string& name) {
  for (const auto& each : images())
    if (name == each.name) return true;
  return name == "softmax" || name.starts_with(kMlp);
}

std::vector<std::string> builtin_networks() {
  std::vector<std::string> names;
  for (const auto& each : images()) names.emplace_back(each.name);
  names.insert(names.end(), {"softmax", "mlp:64,32"});
  return names;
}

std::int64_t builtin_features(const std::string& name) {
  for (const auto& each : images())
    if (name == each.name) return each.input.size();
  return 0;
}

Expected<NetworkSpec> builtin_network(const std::string& name,
                                      std::int64_t features,
                                      std::int64_t classes) {
  NetworkSpec spec;
  for (const auto& each : images()) {
    if (name != each.name) continue;
    if (features != each.input.size())
      return fail(ErrorKind::kUsage,
                  fmt::format("{} is for images of {} x {} x {} pixels, but a row has {} numbers.",
                              name,
                              each.input.channels,
                              each.input.height,
                              each.input.width,
                              features));
    spec.input = each.input;
    for (const char* text : each.layers) spec.layers.push_back(layer(text));
    finish(spec, classes);
    return spec;
  }
  spec.input = {features, 1, 1};
  if (name == "softmax") {
    if (classes < 2)
      return fail(ErrorKind::kUsage, "softmax regression needs at least two classes.");
    finish(spec, classes);
    return spec;
  }
  if (!name.starts_with(kMlp))
    return fail(ErrorKind::kUsage,
                fmt::format("unknown model '{}'. Give a model file, or one of mnist-cnn4, "
                            "cifar-cnn5, cifar-cnn6, softmax, mlp:WIDTH,WIDTH.",
                            name));
  std::string_view widths = std::string_view(name).substr(kMlp.size());
  while (!widths.empty()) {
    const std::string_view word = widths.substr(0, widths.find(','));
    widths.remove_prefix(std::min(widths.size(), word.size() + 1));
    auto parsed = parse_layer(fmt::format("linear {}", word));
    if (!parsed)
      return fail(ErrorKind::kUsage,
                  fmt::format("the widths of an mlp must be whole numbers, for example "
                              "mlp:256,64, but one is '{}'.",
                              word));
    spec.layers.push_back(*parsed);
    spec.layers.push_back(layer("relu"));
  }
  finish(spec, classes);
  SOTTO_TRY(shapes_of(spec));
  return spec;
}

}  // namespace sotto
