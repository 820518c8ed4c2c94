#pragma once

#include <vector>

#include "sotto/optimizer/first_order/noisy_descent.hpp"
#include "sotto/optimizer/registry.hpp"

namespace sotto {

/// Of methods whose plan is one event for all steps.
inline constexpr double kMostSteps = 100'000'000;

/// The options that every descent method has.
void add_descent_options(OptionTable<DescentOptions>& table);

std::vector<MethodInfo> gd_methods();
std::vector<MethodInfo> sgd_methods();
std::vector<MethodInfo> rrpsgd_methods();
std::vector<MethodInfo> agd_methods();
std::vector<MethodInfo> adp_sgd_methods();
std::vector<MethodInfo> auto_methods();
std::vector<MethodInfo> srm_methods();
std::vector<MethodInfo> spiderboost_methods();
std::vector<MethodInfo> storm_methods();

}  // namespace sotto
