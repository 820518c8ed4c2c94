#include "sotto/model/class_metrics.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sotto/core/parallel.hpp"
#include "sotto/objective/network/engine.hpp"

namespace sotto {
namespace {

/// With every layer trained, so that an engine's parameters are the network's.
NetworkSpec thawed(NetworkSpec spec) {
  for (auto& layer : spec.layers) layer.frozen = false;
  return spec;
}

/// Calls body(block, workspace) for all blocks, on all threads.
template <class Body>
void for_each_block(const NetworkEngine& engine, const Body& body) {
  std::vector<std::unique_ptr<Engine::Workspace>> workspaces;
  for (int i = 0; i < thread_count(); ++i) workspaces.push_back(engine.make_workspace());
  const std::int64_t size = engine.block_size();
  parallel_for((engine.units() + size - 1) / size, [&](std::int64_t k, int worker) {
    Block block;
    block.begin = k * size;
    block.count = std::min(size, engine.units() - block.begin);
    body(block, *workspaces[static_cast<std::size_t>(worker)]);
  });
}

std::span<const double> as_span(const Vector& w) {
  return {w.data(), static_cast<std::size_t>(w.size())};
}

}  // namespace

Expected<std::vector<double>> network_outputs(const Table& table,
                                              const NetworkSpec& spec,
                                              const Vector& w) {
  SOTTO_ASSIGN(const auto engine, NetworkEngine::make(table, thawed(spec)));
  const std::int64_t outputs = engine->outputs();
  std::vector<double> result(static_cast<std::size_t>(table.rows() * outputs));
  for_each_block(*engine, [&](const Block& block, Engine::Workspace& workspace) {
    engine->evaluate_outputs(
        block,
        as_span(w),
        workspace,
        {result.data() + block.begin * outputs, static_cast<std::size_t>(block.count * outputs)});
  });
  return result;
}

std::int64_t predicted_class(const NetworkSpec& spec, std::span<const double> outputs) {
  if (spec.loss != NetworkLoss::kSoftmax) return outputs[0] > 0 ? 1 : 0;
  return std::max_element(outputs.begin(), outputs.end()) - outputs.begin();
}

Expected<ClassMetrics> evaluate_network(const Table& table,
                                        const NetworkSpec& spec,
                                        const Vector& w) {
  SOTTO_ASSIGN(const auto engine, NetworkEngine::make(table, thawed(spec)));
  ClassMetrics metrics;
  metrics.rows = table.rows();
  const auto rows = static_cast<double>(std::max<std::int64_t>(1, table.rows()));
  std::vector<double> losses(static_cast<std::size_t>(table.rows()));
  for_each_block(*engine, [&](const Block& block, Engine::Workspace& workspace) {
    engine->evaluate_losses(block,
                            as_span(w),
                            workspace,
                            {losses.data() + block.begin, static_cast<std::size_t>(block.count)});
  });
  for (const double loss : losses) metrics.loss += loss / rows;
  SOTTO_ASSIGN(const auto outputs, network_outputs(table, spec, w));
  const auto width = static_cast<std::size_t>(engine->outputs());
  if (spec.loss == NetworkLoss::kSquared) {
    for (std::size_t i = 0; i < outputs.size(); ++i)
      metrics.rmse += std::pow(outputs[i] - table.labels()[i], 2) / rows;
    metrics.rmse = std::sqrt(metrics.rmse);
    return metrics;
  }
  const std::size_t classes = spec.loss == NetworkLoss::kSoftmax ? width : 2;
  metrics.confusion.assign(classes, std::vector<std::int64_t>(classes));
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const float label = table.labels()[i];
    const auto truth =
        static_cast<std::size_t>(spec.loss == NetworkLoss::kSoftmax ? label : label > 0);
    const auto guess =
        static_cast<std::size_t>(predicted_class(spec, {outputs.data() + i * width, width}));
    ++metrics.confusion[truth][guess];
    metrics.accuracy += truth == guess ? 1 / rows : 0;
  }
  return metrics;
}

nlohmann::json to_json(const ClassMetrics& metrics) {
  nlohmann::json json = {{"rows", metrics.rows}, {"loss", metrics.loss}};
  if (metrics.confusion.empty()) {
    json["rmse"] = metrics.rmse;
  } else {
    json["accuracy"] = metrics.accuracy;
    json["confusion"] = metrics.confusion;
  }
  return json;
}

}  // namespace sotto
