#include "network_setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "network_file.hpp"
#include "sotto/geometry/loss_info.hpp"
#include "sotto/objective/network/transfer.hpp"

namespace sotto::app {
namespace {

LabelKind labels_for(NetworkLoss loss) {
  switch (loss) {
    case NetworkLoss::kLogistic:
      return LabelKind::kBinary;
    case NetworkLoss::kSquared:
      return LabelKind::kReal;
    default:
      return LabelKind::kMulticlass;
  }
}

/// "0.5" or "0.4,0.5,0.6"; one number stands for all channels.
Expected<std::vector<double>> numbers_of(const std::string& text,
                                         const char* option,
                                         std::int64_t channels) {
  std::vector<double> numbers;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    double value = 0;
    const auto [stop, error] = std::from_chars(text.data() + begin, text.data() + end, value);
    if (error != std::errc{} || stop != text.data() + end || !std::isfinite(value))
      return fail(
          ErrorKind::kUsage,
          fmt::format("{} must be numbers with commas between them, but is '{}'.", option, text));
    numbers.push_back(value);
    begin = end + 1;
  }
  if (numbers.size() == 1) numbers.assign(static_cast<std::size_t>(channels), numbers[0]);
  return numbers;
}

}  // namespace

void NetworkArguments::add_to(Verb& verb) {
  verb.reads("--model", [this] {
    return is_builtin_network(model) ? std::vector<std::string>() : std::vector{model};
  });
  verb.add_word("--model",
                model,
                "a network instead of a linear model: mnist-cnn4, cifar-cnn5, cifar-cnn6, "
                "softmax, mlp:WIDTH,WIDTH, a model file or the layers of an ONNX file "
                "(docs/guide/networks.md)")
      ->group("Network");
  verb.add_option("--initial-seed", initial_seed, "public seed of the initial weights")
      ->capture_default_str()
      ->group("Network");
  verb.add_input("--pretrained",
                 pretrained_path,
                 "start from the layers of this model (.json or .onnx), trained on PUBLIC data; "
                 "frozen ones need it")
      ->group("Network");
  verb.add_word("--mean", mean, "public constants subtracted from the input, one or one a channel")
      ->group("Network");
  verb.add_word("--deviation", deviation, "public constants that the input is divided by")
      ->group("Network");
}

Expected<bool> predicts_numbers(const std::string& loss) {
  SOTTO_ASSIGN(const LossSpec spec, parse_loss(loss));
  if (spec.kind != LossKind::kLogistic && spec.kind != LossKind::kSquared)
    return fail(ErrorKind::kUsage,
                fmt::format("--loss {} is for linear models. A network's loss is the one that its "
                            "model file states; a built-in network takes classes, or numbers with "
                            "--loss squared.",
                            loss));
  return spec.kind == LossKind::kSquared;
}

Expected<NamedNetwork> named_network(const NetworkArguments& arguments, bool regression) {
  NamedNetwork named;
  if (is_builtin_network(arguments.model)) {
    if (regression) named.loss = NetworkLoss::kSquared;
    return named;
  }
  SOTTO_ASSIGN(NetworkFile file, read_network_file(arguments, regression));
  named.loss = file.spec.loss;
  named.from_file = std::move(file.spec);
  named.notes = std::move(file.notes);
  return named;
}

Expected<NetworkSpec> fitted_network(const NetworkArguments& arguments,
                                     const NamedNetwork& named,
                                     std::int64_t features,
                                     std::int64_t classes) {
  NetworkSpec spec;
  if (named.from_file) {
    spec = *named.from_file;
  } else {
    SOTTO_ASSIGN(spec, builtin_network(arguments.model, features, classes));
  }
  if (!arguments.mean.empty()) {
    SOTTO_ASSIGN(spec.mean, numbers_of(arguments.mean, "--mean", spec.input.channels));
  }
  if (!arguments.deviation.empty()) {
    SOTTO_ASSIGN(spec.deviation,
                 numbers_of(arguments.deviation, "--deviation", spec.input.channels));
  }
  for (const double each : spec.deviation)
    if (!(each > 0)) return fail(ErrorKind::kUsage, "--deviation must be > 0.");
  SOTTO_TRY(shapes_of(spec));
  return spec;
}

Expected<StartWeights> start_weights(const NetworkSpec& spec, const NetworkArguments& arguments) {
  StartWeights start;
  start.all = initial_weights(spec, arguments.initial_seed);
  if (arguments.pretrained_path.empty()) {
    for (const auto& layer : spec.layers)
      if (layer.frozen)
        return fail(
            ErrorKind::kUsage,
            "a frozen layer keeps the weights it starts with: give --pretrained MODEL.json, a "
            "network that was trained on public data.");
    return start;
  }
  SOTTO_ASSIGN(const PretrainedNetwork before, read_pretrained(arguments.pretrained_path));
  start.warning = before.warning;
  SOTTO_ASSIGN(start.all, begun_from(spec, std::move(start.all), before.spec, before.weights));
  return start;
}

std::int64_t known_features(const NetworkArguments& arguments, const NamedNetwork& named) {
  return named.from_file ? named.from_file->input.size() : builtin_features(arguments.model);
}

Expected<void> check_classes(const NetworkSpec& spec, std::int64_t classes) {
  if (spec.loss != NetworkLoss::kSoftmax) return {};
  SOTTO_ASSIGN(const auto shapes, shapes_of(spec));
  if (classes <= shapes.back().channels) return {};
  return fail(
      ErrorKind::kBadData,
      fmt::format("the network has {} outputs, one a class, but there are {} classes. Change "
                  "the last layer or --classes.",
                  shapes.back().channels,
                  classes));
}

NetworkRows wanted_rows(const NetworkArguments& arguments,
                        const NamedNetwork& named,
                        bool public_rows) {
  NetworkRows rows{named.loss, known_features(arguments, named), {}, public_rows, 0};
  if (!named.from_file || named.loss != NetworkLoss::kSoftmax) return rows;
  if (const auto shapes = shapes_of(*named.from_file)) rows.outputs = shapes->back().channels;
  return rows;
}

Expected<LoadedData> load_network_rows(const DataArguments& data,
                                       const std::string& path,
                                       const NetworkRows& rows) {
  if (data.bias || data.row_norm > 0 || data.layout == "sparse")
    return fail(ErrorKind::kUsage,
                "--bias, --row-norm and --layout sparse are for linear models: a network has its "
                "own biases, clipping bounds its gradients, and it takes dense rows.");
  SOTTO_ASSIGN(LoadOptions options, data.load_options(path, labels_for(rows.loss)));
  options.layout = Layout::kDense;
  options.public_rows = rows.public_rows;
  if (!rows.classes.empty()) {
    options.classes = rows.classes;
    options.misfits = Misfits::kRefuse;
  }
  const Format format = resolve_format(options);
  if (options.dim == 0 && format == Format::kLibsvm) options.dim = rows.features;
  // A network of k outputs is for the classes 0 to k - 1, unless told otherwise.
  const bool infers = rows.public_rows && (format == Format::kLibsvm || format == Format::kNpy);
  if (options.classes.empty() && format != Format::kCsv && !infers)
    for (std::int64_t c = 0; c < rows.outputs; ++c) options.classes.push_back(std::to_string(c));
  return load_table(options);
}

}  // namespace sotto::app
