#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/vector.hpp"
#include "sotto/loss/loss_info.hpp"
#include "sotto/objective/network/spec.hpp"
#include "sotto/task/task.hpp"

namespace sotto {

/// What the loss of a linear model says of a network: `squared` makes it predict numbers,
/// `logistic` classes; others are refused.
Expected<bool> predicts_numbers(const LossSpec& loss);

/// What the options say before the rows are known.
struct NamedNetwork {
  std::optional<NetworkSpec> from_file;  ///< none: a built-in network, which fits itself to rows
  NetworkLoss loss = NetworkLoss::kSoftmax;
  std::int64_t features = 0;  ///< how many numbers it takes; 0: it fits itself to the rows
  std::int64_t outputs = 0;   ///< one per class; 0: not known, or none
  std::vector<std::string> notes;
};
/// `regression`: a built-in network predicts numbers.
Expected<NamedNetwork> named_network(const NetworkOptions& options, bool regression);

/// The network for rows of so many features and classes (0 for regression). Fails with kBadData if
/// there are more classes than outputs: decided by what is declared, not by which labels the rows
/// have.
Expected<NetworkSpec> fitted_network(const NetworkOptions& options,
                                     const NamedNetwork& named,
                                     std::int64_t features,
                                     std::int64_t classes);

/// Where training starts: random weights, with those layers of `pretrained` put in whose shapes
/// agree. All layers', frozen ones too.
struct StartWeights {
  Vector all;
  std::string warning;  ///< if the weights come from a private run; empty: none
};
Expected<StartWeights> start_weights(const NetworkSpec& spec, const NetworkOptions& options);

/// How fast gradients of this network are here, from a moment's work on made-up rows.
Expected<double> examples_per_second(const NetworkSpec& spec, const Vector& all);

}  // namespace sotto
