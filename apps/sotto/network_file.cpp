#include "network_file.hpp"

#include <fmt/format.h>

#include "sotto/core/directed_text.hpp"
#include "sotto/core/file.hpp"
#include "sotto/model/model.hpp"
#include "sotto/model/onnx/onnx.hpp"

namespace sotto::app {
namespace {

std::string warning_of(const PrivacyStatement& privacy, const std::string& path) {
  if (!privacy.is_private) return "";
  return fmt::format(
      "{} was trained privately (epsilon {}, delta {}); this run's statement does not count "
      "that. If it was trained on the same people, they are owed the sum of both.",
      path,
      text_up(privacy.epsilon),
      text_up(privacy.delta));
}

}  // namespace

Expected<NetworkFile> read_network_file(const NetworkArguments& arguments, bool regression) {
  NetworkFile file;
  if (is_onnx_path(arguments.model)) {
    OnnxReading reading;
    reading.regression = regression;
    SOTTO_ASSIGN(OnnxNetwork network, load_onnx(arguments.model, reading));
    file.spec = std::move(network.spec);
    file.notes = std::move(network.notes);
    if (arguments.pretrained_path.empty())
      file.notes.push_back(fmt::format(
          "training starts from random weights; if the weights in {0} were made without private "
          "data, --pretrained {0} begins with them",
          arguments.model));
    return file;
  }
  SOTTO_ASSIGN(const std::string text, read_text_file(arguments.model));
  SOTTO_ASSIGN(file.spec, parse_network(text, arguments.model));
  return file;
}

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
                fmt::format("{} is a linear model. --pretrained takes a network.", path));
  SOTTO_ASSIGN(NetworkSpec spec, parse_network(model.network, path));
  if (model.w.size() != parameter_count(spec))
    return fail(ErrorKind::kBadData,
                fmt::format("{}: the weights don't fit the network. Train it again.", path));
  return PretrainedNetwork{std::move(spec), model.w, warning_of(model.privacy, path)};
}

}  // namespace sotto::app
