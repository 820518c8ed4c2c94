#pragma once

#include <vector>

#include "sotto/optimizer/registry.hpp"

namespace sotto {

/// dp-pgd and dp-pmd.
std::vector<MethodInfo> proximal_methods();

}  // namespace sotto
