#pragma once

#include <string>
#include <vector>

#include "sotto/optimizer/registry.hpp"

namespace sotto::testing {

/// As GoogleTest wants the names of tests to be.
inline std::string test_name(std::string text) {
  for (char& c : text)
    if (c == '-' || c == ' ') c = '_';
  return text;
}

inline std::vector<std::string> private_methods() {
  std::vector<std::string> names;
  for (const MethodInfo& method : methods())
    if (method.is_private) names.push_back(method.name);
  return names;
}

}  // namespace sotto::testing
