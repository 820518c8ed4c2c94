#pragma once

#include <vector>

#include "sotto/optimizer/registry.hpp"

namespace sotto {

std::vector<MethodInfo> trust_region_methods();
std::vector<MethodInfo> descent_search_methods();
std::vector<MethodInfo> newton_methods();

}  // namespace sotto
