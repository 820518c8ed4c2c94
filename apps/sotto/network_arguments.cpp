#include "network_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/numbers.hpp"

namespace sotto::app {
namespace {

/// "0.5" or "0.4,0.5,0.6".
Expected<std::vector<double>> numbers_of(const std::string& text, const char* option) {
  std::vector<double> numbers;
  if (text.empty()) return numbers;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto value = finite_in(std::string_view(text).substr(begin, end - begin));
    if (!value)
      return fail(
          ErrorKind::kUsage,
          fmt::format("{} must be numbers with commas between them, but is '{}'.", option, text));
    numbers.push_back(*value);
    begin = end + 1;
  }
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
      .group("Network");
  verb.add_option("--initial-seed", initial_seed, "public seed of the initial weights")
      .show_default()
      .group("Network");
  verb.add_input("--pretrained",
                 pretrained_path,
                 "start from the layers of this model (.json or .onnx), trained on PUBLIC data; "
                 "frozen ones need it")
      .group("Network");
  verb.add_word("--mean",
                mean,
                "public constants subtracted from the input, one number, or one per channel")
      .group("Network");
  verb.add_word("--deviation", deviation, "public constants that the input is divided by")
      .group("Network");
}

Expected<NetworkOptions> NetworkArguments::options() const {
  NetworkOptions options;
  options.model = model;
  options.initial_seed = initial_seed;
  options.pretrained = pretrained_path;
  SOTTO_ASSIGN(options.mean, numbers_of(mean, "--mean"));
  SOTTO_ASSIGN(options.deviation, numbers_of(deviation, "--deviation"));
  return options;
}

}  // namespace sotto::app
