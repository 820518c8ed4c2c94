#pragma once

#include <vector>

#include "sotto/optimizer/registry.hpp"

namespace sotto {

/// dp-fw-l2 and dp-fw-l1.
std::vector<MethodInfo> frank_wolfe_methods();

}  // namespace sotto
