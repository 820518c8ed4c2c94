#pragma once

#include <optional>
#include <string>
#include <vector>

#include "checkpoint_options.hpp"
#include "data_options.hpp"
#include "network_setup.hpp"
#include "run_outputs.hpp"
#include "sotto/model/class_metrics.hpp"
#include "sotto/model/model.hpp"
#include "sotto/training/train.hpp"

namespace sotto::app {

/// What `train` knows before it opens the rows.
struct NetworkRequest {
  NetworkArguments network;
  DataArguments data;
  std::string data_path, model_path, test_path;
  RunOutputs outputs;
  CheckpointArguments checkpoint;
  bool regression = false;  ///< --loss squared
  Regularizer regularizer;
  Relation relation = Relation::kZeroOut;
  std::int64_t public_n = 0;
  bool public_rows = false;  ///< the method has no privacy
  TrainOptions train;
  bool json = false;
  bool quiet = false;
};

Expected<int> train_network(NetworkRequest request);

/// Plan, noise, epsilon and cost of such a run. The rows are read only if the number of units (or
/// of classes, for networks that take it from the data) is not known without them.
Expected<int> dry_run_network(const NetworkRequest& request);

/// Predictions of a network, one row a line, and metrics.
struct NetworkPrediction {
  Model model;
  DataArguments data;
  std::string data_path, output_path;
  bool probabilities = false;
  bool json = false;
};

Expected<int> predict_network(const NetworkPrediction& request);

/// Accuracy and confusion table (or the error, for regression) on standard output.
void print_metrics(const ClassMetrics& metrics,
                   const std::vector<std::string>& class_names,
                   const std::string& what);

}  // namespace sotto::app
