#pragma once

#include <cstddef>
#include <optional>

#include "sotto/data/table.hpp"
#include "sotto/objective/network/spec.hpp"

namespace sotto {

/// What the frozen layers at the beginning of a network make of a table, and the network that is
/// left. Training the rest on the features gives, to the last bit, what training the whole network
/// on the rows would give; the parameters that are trained are the same, in the same order.
struct FrozenFeatures {
  Table table;
  NetworkSpec rest;
};

/// Half of the machine's memory.
std::size_t most_feature_bytes();

/// Computed once, on all threads; the table takes 4 bytes per feature. Where that is more than
/// `most_bytes` it is kept in a mapped file without a name. `w`: the parameters of the whole
/// network. None if no layer with parameters comes before the first that is trained. Fails as
/// NetworkEngine::make does, and with kIo where there is no room for the file.
Expected<std::optional<FrozenFeatures>> frozen_features(
    const Table& table,
    const NetworkSpec& spec,
    const Vector& w,
    std::size_t most_bytes = most_feature_bytes());

}  // namespace sotto
