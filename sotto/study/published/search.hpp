#pragma once

#include <string_view>

#include "sotto/optimizer/registry.hpp"

namespace sotto::study {

/// The searches for second-order points as printed: noise of fixed size for T steps decided in
/// advance, separate releases of gradient and Hessian, tests on the noisy values themselves. Only
/// for reproductions: the opt and dp-tr families of the registry are what to use. Names:
/// `published-opt`, `published-tr`, `published-gd-sosp`. Null if there is no such recipe.
const MethodInfo* find_published(std::string_view name);

}  // namespace sotto::study
