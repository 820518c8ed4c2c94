#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sotto/core/error.hpp"
#include "sotto/optimizer/option_table.hpp"
#include "sotto/oracle/api/public_problem.hpp"
#include "sotto/privacy/sampling.hpp"

namespace sotto {

template <class Options>
void add_sampling_option(OptionTable<Options>& table) {
  table.choice("sampling",
               &Options::sampling,
               {{Sampling::Kind::kPoisson, "poisson"}, {Sampling::Kind::kFixedSize, "fixed_size"}},
               "poisson: each unit independently; fixed_size: without replacement, with its own "
               "accounting");
}

/// `batch` of n units, expected or exactly.
Sampling sampling_of(Sampling::Kind kind, std::int64_t batch, std::int64_t n);

/// Refuses a way of sampling that does not fit the problem.
Expected<void> check(Sampling::Kind kind, const PublicProblem& problem);
/// Refuses a batch of more units than there are, or of none.
Expected<void> check_batch(std::string_view option,
                           std::optional<std::int64_t> batch,
                           const PublicProblem& problem);

}  // namespace sotto
