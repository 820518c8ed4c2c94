#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/vector.hpp"
#include "sotto/data/table.hpp"
#include "sotto/objective/network/spec.hpp"

namespace sotto {

/// How good a network is on *public* rows. Never call it on private ones: nothing here is noised.
struct ClassMetrics {
  std::int64_t rows = 0;
  double loss = 0;      ///< mean loss
  double accuracy = 0;  ///< classification only
  double rmse = 0;      ///< regression only
  /// confusion[truth][prediction]; empty for regression
  std::vector<std::vector<std::int64_t>> confusion;
};

/// The outputs of every row, one after the other: as many a row as the network has.
Expected<std::vector<double>> network_outputs(const Table& table,
                                              const NetworkSpec& spec,
                                              const Vector& w);

/// The class that outputs stand for: the largest, or for a logistic network whether it is positive.
std::int64_t predicted_class(const NetworkSpec& spec, std::span<const double> outputs);

/// `w`: the parameters of all layers.
Expected<ClassMetrics> evaluate_network(const Table& table,
                                        const NetworkSpec& spec,
                                        const Vector& w);

nlohmann::json to_json(const ClassMetrics& metrics);

}  // namespace sotto
