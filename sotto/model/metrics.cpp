#include "sotto/model/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "sotto/core/check.hpp"
#include "sotto/objective/glm.hpp"

namespace sotto {
namespace {

double score_of_row(const Table& table, std::int64_t i, const Vector& w) {
  double score = 0;
  if (table.sparse()) {
    const auto offsets = table.offsets();
    for (auto k = offsets[static_cast<std::size_t>(i)];
         k < offsets[static_cast<std::size_t>(i) + 1];
         ++k)
      score += table.values()[static_cast<std::size_t>(k)] *
               w[table.columns()[static_cast<std::size_t>(k)]];
  } else {
    const float* row = table.row(i);
    for (Eigen::Index j = 0; j < w.size(); ++j) score += row[j] * w[j];
  }
  return score;
}

double mean_loss(const Table& table, const Vector& w, const LossSpec& loss) {
  const GlmEngine engine(table, loss);
  const auto workspace = engine.make_workspace();
  std::vector<double> losses(static_cast<std::size_t>(engine.block_size()));
  double total = 0;
  for (std::int64_t begin = 0; begin < engine.units(); begin += engine.block_size()) {
    Block block;
    block.begin = begin;
    block.count = std::min(engine.block_size(), engine.units() - begin);
    const std::span<double> values(losses.data(), static_cast<std::size_t>(block.count));
    engine.evaluate_losses(
        block, {w.data(), static_cast<std::size_t>(w.size())}, *workspace, values);
    total = std::accumulate(values.begin(), values.end(), total);
  }
  return total / static_cast<double>(table.rows());
}

}  // namespace

std::vector<double> scores(const Table& table, const Vector& w) {
  SOTTO_CHECK(table.dim() == w.size());
  std::vector<double> result(static_cast<std::size_t>(table.rows()));
  for (std::int64_t i = 0; i < table.rows(); ++i)
    result[static_cast<std::size_t>(i)] = score_of_row(table, i, w);
  return result;
}

double area_under_roc(std::span<const double> scores, std::span<const float> labels) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return scores[a] < scores[b]; });
  double rank_sum = 0;  // of the positives; equal scores share their mean rank
  double positives = 0;
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    double here = 0;
    for (; end < order.size() && scores[order[end]] == scores[order[begin]]; ++end)
      here += labels[order[end]] > 0 ? 1 : 0;
    rank_sum += here * (static_cast<double>(begin + 1 + end) / 2);
    positives += here;
    begin = end;
  }
  const double negatives = static_cast<double>(order.size()) - positives;
  if (positives == 0 || negatives == 0) return std::numeric_limits<double>::quiet_NaN();
  return (rank_sum - positives * (positives + 1) / 2) / (positives * negatives);
}

Metrics evaluate(const Table& table,
                 const Vector& w,
                 const LossSpec& loss,
                 double regularizer_value) {
  Metrics metrics;
  metrics.rows = table.rows();
  metrics.classification = loss_info(loss).classification;
  metrics.loss = mean_loss(table, w, loss);
  metrics.objective = metrics.loss + regularizer_value;
  std::vector<double> predicted = scores(table, w);
  for (double& each : predicted) each = prediction(loss, each);
  const auto labels = table.labels();
  const auto rows = static_cast<double>(std::max<std::int64_t>(1, table.rows()));
  if (metrics.classification) {
    for (std::size_t i = 0; i < predicted.size(); ++i)
      ++metrics.confusion[labels[i] > 0 ? 1 : 0][predicted[i] > 0 ? 1 : 0];
    metrics.accuracy =
        static_cast<double>(metrics.confusion[0][0] + metrics.confusion[1][1]) / rows;
    metrics.auc = area_under_roc(predicted, labels);
  } else {
    for (std::size_t i = 0; i < predicted.size(); ++i) {
      const double error = predicted[i] - labels[i];
      metrics.rmse += error * error;
      metrics.mae += std::abs(error);
    }
    metrics.rmse = std::sqrt(metrics.rmse / rows);
    metrics.mae /= rows;
  }
  return metrics;
}

nlohmann::json to_json(const Metrics& metrics) {
  nlohmann::json json = {
      {"rows", metrics.rows}, {"loss", metrics.loss}, {"objective", metrics.objective}};
  if (metrics.classification) {
    json["accuracy"] = metrics.accuracy;
    json["auc"] = std::isnan(metrics.auc) ? nlohmann::json(nullptr) : nlohmann::json(metrics.auc);
    json["confusion"] = metrics.confusion;
  } else {
    json["rmse"] = metrics.rmse;
    json["mae"] = metrics.mae;
  }
  return json;
}

}  // namespace sotto
