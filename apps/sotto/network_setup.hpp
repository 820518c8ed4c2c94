#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data_options.hpp"
#include "sotto/objective/network/spec.hpp"
#include "verb.hpp"

namespace sotto::app {

/// The options that say which network: of `train` and `audit`.
struct NetworkArguments {
  std::string model;  ///< a built-in name or a model file; empty: a linear model
  std::uint64_t initial_seed = 0;
  std::string pretrained_path;  ///< a model whose weights training starts from
  std::string mean, deviation;  ///< numbers with commas between them

  void add_to(Verb& verb);
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

/// How many numbers such a network takes; 0 if it fits itself to the rows.
std::int64_t known_features(const NetworkArguments& arguments, const NamedNetwork& named);

/// Fails with kBadData if there are more classes than outputs: decided by what is declared, not by
/// which labels the rows have.
Expected<void> check_classes(const NetworkSpec& spec, std::int64_t classes);

/// What is known of the rows that a network is to take.
struct NetworkRows {
  NetworkLoss loss = NetworkLoss::kSoftmax;
  std::int64_t features = 0;         ///< 0: not known
  std::vector<std::string> classes;  ///< names in the order of a model; empty: not known
  bool public_rows = false;          ///< what is not known may be taken from the rows
  std::int64_t outputs = 0;          ///< of the network, one per class; 0: not known
};
/// What --model says of training rows.
NetworkRows wanted_rows(const NetworkArguments& arguments,
                        const NamedNetwork& named,
                        bool public_rows);

/// A table that networks take.
Expected<LoadedData> load_network_rows(const DataArguments& data,
                                       const std::string& path,
                                       const NetworkRows& rows);

}  // namespace sotto::app
