#pragma once

#include <string>
#include <vector>

#include "network_setup.hpp"
#include "sotto/core/vector.hpp"
#include "sotto/objective/network/spec.hpp"

namespace sotto::app {

/// The layers that a file describes.
struct NetworkFile {
  NetworkSpec spec;
  std::vector<std::string> notes;
};

/// --model: a model file (TOML), or the layers of an ONNX file. Weights of an ONNX file are not
/// taken from here: whoever names it in --pretrained says that they are public.
Expected<NetworkFile> read_network_file(const NetworkArguments& arguments, bool regression);

struct PretrainedNetwork {
  NetworkSpec spec;
  Vector weights;       ///< of all its layers
  std::string warning;  ///< if the weights come from a private run, which this one won't count
};

/// --pretrained: a network that `train` wrote, or an ONNX file.
Expected<PretrainedNetwork> read_pretrained(const std::string& path);

}  // namespace sotto::app
