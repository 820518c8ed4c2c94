#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data_options.hpp"
#include "sotto/objective/network/spec.hpp"

namespace sotto::app {

/// The options that say which network: of `train` and `audit`.
struct NetworkArguments {
  std::string model;  ///< a built-in name or a model file; empty: a linear model
  std::uint64_t initial_seed = 0;
  std::string pretrained_path;  ///< a model whose weights training starts from
  std::string mean, deviation;  ///< numbers with commas between them

  void add_to(CLI::App& verb);
};

/// What --loss says of a network: `squared` makes it predict numbers. Losses of linear models are
/// refused.
Expected<bool> predicts_numbers(const std::string& loss);

/// What --model says before the rows are known.
struct NamedNetwork {
  std::optional<NetworkSpec> from_file;  ///< none: a built-in network, which fits itself to rows
  NetworkLoss loss = NetworkLoss::kSoftmax;
  std::vector<std::string> notes;
};
Expected<NamedNetwork> named_network(const NetworkArguments& arguments, bool regression);

/// The network for rows of so many features and classes (0 for regression).
Expected<NetworkSpec> fitted_network(const NetworkArguments& arguments,
                                     const NamedNetwork& named,
                                     std::int64_t features,
                                     std::int64_t classes);

/// Where training starts: random weights, with those layers of --pretrained put in whose shapes
/// agree. All layers', frozen ones too.
struct StartWeights {
  Vector all;
  std::string warning;  ///< if the weights come from a private run; empty: none
};
Expected<StartWeights> start_weights(const NetworkSpec& spec, const NetworkArguments& arguments);

/// A table that networks take. `classes`: names in the order of a model; empty: from the file.
Expected<LoadedData> load_network_rows(const DataArguments& data,
                                       const std::string& path,
                                       NetworkLoss loss,
                                       const std::vector<std::string>& classes = {});

}  // namespace sotto::app
