#include "sotto/task/network_setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "sotto/core/directed_text.hpp"
#include "sotto/core/file.hpp"
#include "sotto/core/nearest.hpp"
#include "sotto/model/model.hpp"
#include "sotto/model/onnx/onnx.hpp"
#include "sotto/objective/network/engine.hpp"
#include "sotto/objective/network/transfer.hpp"
#include "sotto/oracle/per_example_sum.hpp"

namespace sotto {
namespace {

std::string warning_of(const PrivacyStatement& privacy, const std::string& path) {
  if (!privacy.is_private) return "";
  return fmt::format(
      "{} was trained privately (epsilon {}{}, delta {}); this run's statement does not count "
      "that. If it was trained on the same people, they are owed the sum of both.",
      path,
      text_up(privacy.epsilon),
      seed_mark(privacy),
      text_up(privacy.delta));
}

/// A model file (TOML), or the layers of an ONNX file. Weights of an ONNX file are not taken from
/// here: whoever names it as pretrained says that they are public.
Expected<NetworkSpec> read_layers(const NetworkOptions& options,
                                  bool regression,
                                  std::vector<std::string>& notes) {
  if (!is_onnx_path(options.model)) {
    SOTTO_ASSIGN(const std::string text, read_text_file(options.model));
    return parse_network(text, options.model);
  }
  OnnxReading reading;
  reading.regression = regression;
  SOTTO_ASSIGN(OnnxNetwork network, load_onnx(options.model, reading));
  notes = std::move(network.notes);
  if (options.pretrained.empty())
    notes.push_back(fmt::format(
        "training starts from random weights; if the weights in {0} were made without private "
        "data, ‘pretrained {0}’ begins with them",
        options.model));
  return std::move(network.spec);
}

struct PretrainedNetwork {
  NetworkSpec spec;
  Vector weights;       ///< of all its layers
  std::string warning;  ///< if the weights come from a private run, which this one won't count
};

/// A network that `train` wrote, or an ONNX file.
Expected<PretrainedNetwork> read_pretrained(const std::string& path) {
  if (is_onnx_path(path)) {
    SOTTO_ASSIGN(OnnxNetwork network, load_onnx(path));
    return PretrainedNetwork{std::move(network.spec),
                             std::move(network.weights),
                             network.privacy ? warning_of(*network.privacy, path) : ""};
  }
  SOTTO_ASSIGN(const Model model, load_model(path));
  if (model.network.empty())
    return fail(ErrorKind::kBadData,
                fmt::format("{} is a linear model. ‘pretrained’ takes a network.", path));
  SOTTO_ASSIGN(NetworkSpec spec, parse_network(model.network, path));
  if (model.w.size() != parameter_count(spec))
    return fail(ErrorKind::kBadData,
                fmt::format("{}: the weights don't fit the network. Train it again.", path));
  return PretrainedNetwork{std::move(spec), model.w, warning_of(model.privacy, path)};
}

/// One number stands for all channels.
std::vector<double> by_channel(const std::vector<double>& numbers, const NetworkSpec& spec) {
  if (numbers.size() != 1) return numbers;
  return std::vector<double>(static_cast<std::size_t>(spec.input.channels), numbers[0]);
}

/// `mpl:32` means `mlp:32`.
std::string nearest_network(const std::string& name) {
  const std::size_t colon = std::min(name.find(':'), name.size());
  if (nearest(name.substr(0, colon), {"mlp"}) == "mlp" && colon < name.size())
    return fmt::format(" Did you mean 'mlp{}'?", name.substr(colon));
  return did_you_mean(name, builtin_networks());
}

}  // namespace

Expected<bool> predicts_numbers(const LossSpec& loss) {
  if (loss.kind != LossKind::kLogistic && loss.kind != LossKind::kSquared)
    return fail(ErrorKind::kUsage,
                fmt::format("‘loss {}’ is for linear models. A network's loss is the one that its "
                            "model file states; a built-in network takes classes, or numbers with "
                            "‘loss squared’.",
                            to_string(loss)));
  if (loss.weights != ClassWeights{})
    return fail(ErrorKind::kUsage,
                fmt::format("‘loss {}’ weighs the classes of linear models. Those of a network are "
                            "weighed by ‘class_weight’ NAME=WEIGHT.",
                            to_string(loss)));
  return loss.kind == LossKind::kSquared;
}

Expected<NamedNetwork> named_network(const NetworkOptions& options, bool regression) {
  NamedNetwork named;
  if (is_builtin_network(options.model)) {
    if (regression) named.loss = NetworkLoss::kSquared;
    named.features = builtin_features(options.model);
    return named;
  }
  auto layers = read_layers(options, regression, named.notes);
  const bool looks_like_file = options.model.find_first_of("./") != std::string::npos;
  if (!layers && layers.error().kind == ErrorKind::kIo && !looks_like_file)
    return fail(ErrorKind::kUsage,
                fmt::format("‘model’ is '{}', neither a file nor a built-in network.{} Built in "
                            "are {} (any widths).",
                            options.model,
                            nearest_network(options.model),
                            fmt::join(builtin_networks(), ", ")));
  SOTTO_ASSIGN(named.from_file, std::move(layers));
  named.loss = named.from_file->loss;
  named.features = named.from_file->input.size();
  if (named.loss == NetworkLoss::kSoftmax)
    if (const auto shapes = shapes_of(*named.from_file)) named.outputs = shapes->back().channels;
  return named;
}

Expected<NetworkSpec> fitted_network(const NetworkOptions& options,
                                     const NamedNetwork& named,
                                     std::int64_t features,
                                     std::int64_t classes) {
  NetworkSpec spec;
  if (named.from_file) {
    spec = *named.from_file;
  } else {
    SOTTO_ASSIGN(spec, builtin_network(options.model, features, classes));
  }
  if (!options.mean.empty()) spec.mean = by_channel(options.mean, spec);
  if (!options.deviation.empty()) spec.deviation = by_channel(options.deviation, spec);
  for (const double each : spec.deviation)
    if (!(each > 0)) return fail(ErrorKind::kUsage, "‘deviation’ must be > 0.");
  SOTTO_ASSIGN(const auto shapes, shapes_of(spec));
  if (spec.loss == NetworkLoss::kSoftmax && classes > shapes.back().channels)
    return fail(
        ErrorKind::kBadData,
        fmt::format("the network has {} outputs, one per class, but there are {} classes. Change "
                    "the last layer or ‘classes’.",
                    shapes.back().channels,
                    classes));
  return spec;
}

Expected<StartWeights> start_weights(const NetworkSpec& spec, const NetworkOptions& options) {
  StartWeights start;
  start.all = initial_weights(spec, options.initial_seed);
  if (options.pretrained.empty()) {
    for (const auto& layer : spec.layers)
      if (layer.frozen)
        return fail(
            ErrorKind::kUsage,
            "a frozen layer keeps the weights it starts with: give ‘pretrained MODEL.json’, a "
            "network that was trained on public data.");
    return start;
  }
  SOTTO_ASSIGN(const PretrainedNetwork before, read_pretrained(options.pretrained));
  start.warning = before.warning;
  SOTTO_ASSIGN(start.all, begun_from(spec, std::move(start.all), before.spec, before.weights));
  return start;
}

Expected<double> examples_per_second(const NetworkSpec& spec, const Vector& all) {
  constexpr std::int64_t kRows = 256;
  const std::int64_t features = spec.input.size();
  std::vector<float> values(static_cast<std::size_t>(kRows * features));
  for (std::size_t k = 0; k < values.size(); ++k)
    values[k] = static_cast<float>(k * 37 % 101) / 101.0F;
  const std::vector<float> labels(kRows, 1.0F);
  const Table table = TableBuilder::dense(kRows, features, values, labels, {});
  SOTTO_ASSIGN(const auto engine, NetworkEngine::make(table, spec, all));
  PerExampleSum sums(*engine);
  const Vector w = trained_part(spec, all);
  Vector gradient;
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 3; ++round) {  // the first warms up
    const auto begin = std::chrono::steady_clock::now();
    sums.clipped_gradients({}, w, 1, gradient);
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return static_cast<double>(kRows) / best;
}

}  // namespace sotto
