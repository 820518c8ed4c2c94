#pragma once

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

/// Computed once, on all threads; the table takes 4 bytes a feature. `w`: the parameters of the
/// whole network. None if no layer with parameters comes before the first that is trained. Fails as
/// NetworkEngine::make does.
Expected<std::optional<FrozenFeatures>> frozen_features(const Table& table,
                                                        const NetworkSpec& spec,
                                                        const Vector& w);

}  // namespace sotto
