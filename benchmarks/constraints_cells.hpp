#pragma once

// What the experiments of bench_utility_constraints.cpp share: cells that are run once and kept,
// and runs of a method that report true measures.

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "benchmarks/result_file.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/training/measures.hpp"
#include "sotto/training/train.hpp"

namespace sotto::bench {

/// Results by key, appended to a file of JSON lines as they come; done cells are not run again.
class Cells {
 public:
  explicit Cells(const std::filesystem::path& path) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      const auto json = nlohmann::json::parse(line, nullptr, false);
      if (json.is_object() && json.contains("key")) done_[json["key"]] = json;
    }
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path());
    out_.open(path, std::ios::app);
  }

  /// The cell's result; `compute` is called if it is not there yet. `facts` name it.
  nlohmann::json get(const nlohmann::json& facts,
                     const std::function<Expected<nlohmann::json>()>& compute) {
    const std::string key = facts.dump();
    if (const auto found = done_.find(key); found != done_.end()) return found->second["result"];
    fmt::print(stderr, "{}\n", key);
    const auto result = compute();
    if (!result) {
      fmt::print(stderr, "bench_utility_constraints: {}: {}\n", key, result.error().message);
      std::exit(1);
    }
    const nlohmann::json line = {{"key", key}, {"cell", facts}, {"result", *result}};
    done_[key] = line;
    out_ << line.dump() << std::endl;
    return *result;
  }

 private:
  std::map<std::string, nlohmann::json> done_;
  std::ofstream out_;
};

struct Request {
  std::string method;
  GivenOptions options = {};
  double epsilon = 0;  ///< 0: `noise_multiplier` instead
  double noise_multiplier = 0;
  double delta = 1e-5;
};

/// The method on the rows, with seeds 0 … runs-1: means of the true measures.
inline Expected<nlohmann::json> measure(const Table& table,
                                        const LossSpec& loss,
                                        const PublicProblem& problem,
                                        const Request& request,
                                        int runs) {
  const GlmEngine engine(table, loss);
  double gap = 0, gaps = 0, projected = 0, squares = 0, gradient = 0, time = 0, steps = 0;
  nlohmann::json noise;
  for (int seed = 0; seed < runs; ++seed) {
    TrainOptions options;
    options.method = request.method;
    options.options = request.options;
    options.delta = request.delta;
    if (request.epsilon > 0)
      options.epsilon = request.epsilon;
    else
      options.noise_multiplier = request.noise_multiplier;
    options.seed = static_cast<std::uint64_t>(seed);
    options.unsafe_diagnostics = true;
    NoObserver observer;
    SOTTO_ASSIGN(PreparedRun prepared, prepare(problem, options));
    noise = prepared.noise_multiplier;
    SOTTO_ASSIGN(const TrainResult result,
                 train(engine, problem, options, std::move(prepared), observer));
    const Diagnostics& d = *result.record.diagnostics;
    gap += d.frank_wolfe_gap.value_or(0) / runs;
    gaps += d.frank_wolfe_gap.value_or(0) * d.frank_wolfe_gap.value_or(0) / runs;
    projected += d.projected_gradient_norm.value_or(d.gradient_norm) / runs;
    squares += std::pow(d.projected_gradient_norm.value_or(d.gradient_norm), 2) / runs;
    gradient += d.gradient_norm / runs;
    time += result.seconds / runs;
    steps += static_cast<double>(result.record.steps) / runs;
  }
  return nlohmann::json{{"gap", gap},
                        {"gap_sd", std::sqrt(std::max(0.0, gaps - gap * gap))},
                        {"projected", projected},
                        {"projected_sd", std::sqrt(std::max(0.0, squares - projected * projected))},
                        {"gradient", gradient},
                        {"steps", steps},
                        {"noise_multiplier", noise},
                        {"seconds", time},
                        {"runs", runs}};
}

inline bool report(const std::string& name,
                   const std::string& ratio,
                   double value,
                   double bound,
                   bool at_least = false) {
  return print_figure("utility_constraints", name, ratio, value, bound, at_least);
}

}  // namespace sotto::bench
