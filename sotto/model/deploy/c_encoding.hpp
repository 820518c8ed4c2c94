#pragma once

#include <string>

#include "sotto/data/encoding.hpp"

namespace sotto::deploy {

/// C code, each name of which begins with `name`: the struct of a row, and NAME_encode(row, x),
/// which sets the features and returns 0 if the row does not fit.
std::string c_encoding(const Encoding& encoding, const std::string& name);

}  // namespace sotto::deploy
