#include "sotto/training/run_facts.hpp"

#include <fmt/format.h>

#include "sotto/core/digest.hpp"
#include "sotto/core/option_names.hpp"
#include "sotto/core/version.hpp"

namespace sotto {
namespace {

std::string bytes_of(const Vector& values) {
  return {reinterpret_cast<const char*>(values.data()),
          static_cast<std::size_t>(values.size()) * sizeof(double)};
}

}  // namespace

Facts facts_of(const PublicProblem& problem, const TrainOptions& options, const PreparedRun& run) {
  const auto optional = [](const auto& value) {
    return value ? fmt::format("{}", *value) : std::string("none");
  };
  Facts facts = {
      {"the version of Sotto", kVersion},
      {"‘method’", run.method->name},
      {"‘seed’", optional(options.seed)},
      {"the number of units", std::to_string(problem.n)},
      {"the number of parameters", std::to_string(problem.dimension)},
      {"‘row_norm’", fmt::format("{}", problem.row_norm)},
      {"‘row_max’", fmt::format("{}", problem.row_max)},
      {"the loss", std::to_string(static_cast<int>(problem.loss.kind))},
      {"‘regularizer’", problem.regularizer.to_string()},
      {"‘constraint’", problem.constraint ? problem.constraint->to_string() : "none"},
      {"‘neighbours’", std::string(to_string(problem.relation))},
      {"the unit of privacy", options.unit},
      {"‘epsilon’", optional(options.epsilon)},
      {"‘delta’", fmt::format("{}", options.delta)},
      {"‘accountant’", run.accountant ? std::string(run.accountant->name()) : "none"},
  };
  if (options.most_rows > 0) facts.emplace_back("‘most_rows’", std::to_string(options.most_rows));
  for (const Setting& setting : run.configured.settings)
    facts.emplace_back(marked(setting.name), setting.value);
  facts.emplace_back("the noise multiplier", fmt::format("{}", run.noise_multiplier));
  facts.emplace_back(
      "the plan",
      run.plan.filter.empty() ? to_string(run.plan.event) : "filter " + run.plan.filter);
  facts.emplace_back("the start", sha256(bytes_of(problem.start)));
  facts.insert(facts.end(), options.checkpoint.facts.begin(), options.checkpoint.facts.end());
  return facts;
}

}  // namespace sotto
