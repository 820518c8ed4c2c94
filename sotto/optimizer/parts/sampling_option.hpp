#pragma once

#include <string>

#include "sotto/core/error.hpp"
#include "sotto/optimizer/option_table.hpp"
#include "sotto/oracle/api/public_problem.hpp"
#include "sotto/privacy/sampling.hpp"

namespace sotto {

template <class Options>
void add_sampling_option(OptionTable<Options>& table) {
  table.word("sampling",
             &Options::sampling,
             {"poisson", "fixed_size"},
             "poisson: each unit independently; fixed_size: without replacement, with its own "
             "accounting");
}

/// `batch` of n units, expected or exactly as the word says.
inline Sampling sampling_of(const std::string& word, std::int64_t batch, std::int64_t n) {
  if (batch >= n) return Sampling::full();
  if (word == "fixed_size") return Sampling::fixed_size(batch, n);
  return Sampling::poisson(static_cast<double>(batch) / static_cast<double>(n));
}

inline Expected<void> check_sampling(const std::string& word, const PublicProblem& problem) {
  if (word == "fixed_size" && problem.relation == Relation::kAddRemove)
    return fail(ErrorKind::kUsage,
                "--sampling fixed_size draws so many of the real number of units, which is secret "
                "under add-remove. Use --sampling poisson, or --neighbours replace-one or "
                "zero-out.");
  return {};
}

}  // namespace sotto
