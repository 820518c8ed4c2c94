#pragma once

#include <string>

#include "data_options.hpp"
#include "sotto/core/error.hpp"

namespace sotto::app {

/// Metrics on the test rows are exact, and no charge covers them: the rows must be public. Refuses
/// a --test that is the training data or a part of it, under any name of the same file. (A copy is
/// not noticed: that would take a look at the rows.) `data` says
/// what files each of them means.
Expected<void> check_test_is_not_training(const DataArguments& data,
                                          const std::string& training,
                                          const std::string& test);

}  // namespace sotto::app
