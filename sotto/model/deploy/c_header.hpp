#pragma once

#include <string>

#include "sotto/core/error.hpp"
#include "sotto/model/model.hpp"

namespace sotto {

/// A C99 header that needs nothing but the standard library: a struct with a field for each column
/// of the model's schema (without a schema: an array of numbers), and functions from it to the
/// score, the probabilities and the class. They allocate nothing, and no locale changes them. All
/// names begin with `name`, made an identifier. kUsage: a layer of the network that C does not get.
Expected<std::string> to_c_header(const Model& model, const std::string& name);

/// What to_c_header() makes of it.
std::string c_name(const std::string& name);

}  // namespace sotto
