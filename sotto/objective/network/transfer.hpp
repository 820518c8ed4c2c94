#pragma once

#include "sotto/core/vector.hpp"
#include "sotto/objective/network/spec.hpp"

namespace sotto {

// Parameters that move between networks: from a public network to the one that starts with its
// layers, and between all parameters of a network and those that are trained.

/// `all` (the parameters of `spec`, frozen layers too) with those layers replaced by the ones of
/// another network whose kind and shape agree, counted from the first. kUsage, with the layer's
/// number, if a frozen layer has no counterpart: it would keep random weights.
Expected<Vector> begun_from(const NetworkSpec& spec,
                            Vector all,
                            const NetworkSpec& other,
                            const Vector& other_all);

/// The parameters that are trained, cut out of all of them.
Vector trained_part(const NetworkSpec& spec, const Vector& all);

/// All parameters, with the trained ones put back in place.
void put_trained_part(const NetworkSpec& spec, const Vector& trained, Vector& all);
Vector with_trained_part(const NetworkSpec& spec, Vector all, const Vector& trained);

}  // namespace sotto
