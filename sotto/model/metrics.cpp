#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "sotto/core/check.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/core/sort_doubles.hpp"
#include "sotto/model/evaluate.hpp"
#include "sotto/model/model_json.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/objective/network/engine.hpp"

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

/// With every layer trained, so that an engine's parameters are the network's.
NetworkSpec thawed(NetworkSpec spec) {
  for (auto& layer : spec.layers) layer.frozen = false;
  return spec;
}

/// Calls body(block, workspace) for all blocks of `count` units, or rows, on all threads.
template <class Body>
void for_each_block(const NetworkEngine& engine, std::int64_t count, const Body& body) {
  std::vector<std::unique_ptr<Engine::Workspace>> workspaces;
  for (int i = 0; i < thread_count(); ++i) workspaces.push_back(engine.make_workspace());
  const std::int64_t size = engine.block_size();
  parallel_for((count + size - 1) / size, [&](std::int64_t k, int worker) {
    Block block;
    block.begin = k * size;
    block.count = std::min(size, count - block.begin);
    body(block, *workspaces[static_cast<std::size_t>(worker)]);
  });
}

std::span<const double> as_span(const Vector& w) {
  return {w.data(), static_cast<std::size_t>(w.size())};
}

void count_classes(std::span<const std::size_t> truths,
                   std::span<const std::size_t> guesses,
                   std::size_t classes,
                   Metrics& metrics) {
  metrics.confusion.assign(classes, std::vector<std::int64_t>(classes));
  for (std::size_t i = 0; i < truths.size(); ++i) ++metrics.confusion[truths[i]][guesses[i]];
  metrics.accuracy = static_cast<double>(metrics.right()) /
                     static_cast<double>(std::max<std::int64_t>(1, metrics.rows));
}

/// ln(1 + e^x).
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

/// Mean of -ln of the true class's probability; `width` outputs per row, of which one stands for
/// two classes.
double mean_log_loss(std::span<const double> outputs,
                     std::span<const std::size_t> truths,
                     std::size_t width) {
  double sum = 0;
  for (std::size_t i = 0; i < truths.size(); ++i) {
    const auto z = outputs.subspan(i * width, width);
    if (width == 1) {
      sum += softplus(truths[i] == 1 ? -z[0] : z[0]);
      continue;
    }
    const double largest = *std::max_element(z.begin(), z.end());
    double exponentials = 0;
    for (const double each : z) exponentials += std::exp(each - largest);
    sum += std::log(exponentials) + largest - z[truths[i]];
  }
  return sum / static_cast<double>(std::max<std::size_t>(1, truths.size()));
}

void measure_errors(std::span<const double> predicted,
                    std::span<const float> labels,
                    Metrics& metrics) {
  const auto rows = static_cast<double>(std::max<std::int64_t>(1, metrics.rows));
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    const double error = predicted[i] - labels[i];
    metrics.rmse += error * error;
    metrics.mae += std::abs(error);
  }
  metrics.rmse = std::sqrt(metrics.rmse / rows);
  metrics.mae /= rows;
}

}  // namespace

std::int64_t rows_right(const Confusion& confusion) {
  std::int64_t count = 0;
  for (std::size_t c = 0; c < confusion.size(); ++c) count += confusion[c][c];
  return count;
}

std::int64_t rows_of(const Confusion& confusion, std::size_t c) {
  return std::accumulate(confusion[c].begin(), confusion[c].end(), std::int64_t{0});
}

std::int64_t rows_as(const Confusion& confusion, std::size_t c) {
  std::int64_t count = 0;
  for (const auto& truth : confusion) count += truth[c];
  return count;
}

std::size_t majority_class(const Confusion& confusion) {
  std::size_t most = 0;
  for (std::size_t c = 1; c < confusion.size(); ++c)
    if (rows_of(confusion, c) > rows_of(confusion, most)) most = c;
  return most;
}

double log_loss_of_shares(const Confusion& confusion) {
  double rows = 0, sum = 0;
  for (std::size_t c = 0; c < confusion.size(); ++c)
    rows += static_cast<double>(rows_of(confusion, c));
  for (std::size_t c = 0; c < confusion.size(); ++c)
    if (const auto count = static_cast<double>(rows_of(confusion, c)); count > 0)
      sum += count * std::log(rows / count);
  return sum / rows;
}

std::vector<std::size_t> never_predicted(const Confusion& confusion) {
  std::vector<std::size_t> classes;
  for (std::size_t c = 0; c < confusion.size(); ++c)
    if (rows_of(confusion, c) > 0 && rows_as(confusion, c) == 0) classes.push_back(c);
  return classes;
}

std::vector<double> scores(const Table& table, const Vector& w) {
  SOTTO_CHECK(table.dim() == w.size());
  std::vector<double> result(static_cast<std::size_t>(table.rows()));
  const std::int64_t rows = table.rows();
  constexpr std::int64_t kPiece = 4096;
  parallel_for((rows + kPiece - 1) / kPiece, [&](std::int64_t piece, int) {
    for (std::int64_t i = piece * kPiece; i < std::min(rows, (piece + 1) * kPiece); ++i)
      result[static_cast<std::size_t>(i)] = score_of_row(table, i, w);
  });
  return result;
}

double area_under_roc(std::span<const double> scores, std::span<const float> labels) {
  std::vector<double> positives, negatives;
  for (std::size_t i = 0; i < scores.size(); ++i)
    (labels[i] > 0 ? positives : negatives).push_back(scores[i]);
  if (positives.empty() || negatives.empty()) return std::numeric_limits<double>::quiet_NaN();
  sort_doubles(positives);
  sort_doubles(negatives);
  double wins = 0;  // pairs in which the positive one is higher, and half of the equal ones
  auto below = negatives.begin();
  auto equal = negatives.begin();  // the first that is higher
  for (const double score : positives) {
    while (below != negatives.end() && *below < score) ++below;
    while (equal != negatives.end() && *equal <= score) ++equal;
    wins += static_cast<double>((below - negatives.begin()) + (equal - negatives.begin())) / 2;
  }
  return wins / (static_cast<double>(positives.size()) * static_cast<double>(negatives.size()));
}

Metrics evaluate(const Table& table,
                 const Vector& w,
                 const LossSpec& loss,
                 double regularizer_value) {
  return evaluate(table, w, loss, regularizer_value, scores(table, w));
}

Metrics evaluate(const Table& table,
                 const Vector& w,
                 const LossSpec& loss,
                 double regularizer_value,
                 std::span<const double> scores) {
  Metrics metrics;
  metrics.rows = table.rows();
  metrics.classification = loss_info(loss).classification;
  metrics.loss = mean_loss(table, w, loss);
  metrics.objective = metrics.loss + regularizer_value;
  std::vector<double> predicted(scores.begin(), scores.end());
  for (double& each : predicted) each = prediction(loss, each);
  const auto labels = table.labels();
  if (!metrics.classification) {
    measure_errors(predicted, labels, metrics);
    return metrics;
  }
  std::vector<std::size_t> truths(predicted.size()), guesses(predicted.size());
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    truths[i] = labels[i] > 0 ? 1 : 0;
    guesses[i] = predicted[i] > 0 ? 1 : 0;
  }
  count_classes(truths, guesses, 2, metrics);
  if (loss.kind == LossKind::kLogistic) metrics.log_loss = mean_log_loss(scores, truths, 1);
  metrics.auc = area_under_roc(predicted, labels);
  return metrics;
}

Expected<std::vector<double>> network_outputs(const Table& table,
                                              const NetworkSpec& spec,
                                              const Vector& w) {
  SOTTO_ASSIGN(const auto engine, NetworkEngine::make(table, thawed(spec)));
  const std::int64_t outputs = engine->outputs();
  std::vector<double> result(static_cast<std::size_t>(table.rows() * outputs));
  for_each_block(*engine, table.rows(), [&](const Block& block, Engine::Workspace& workspace) {
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

Expected<Metrics> evaluate_network(const Table& table,
                                   const NetworkSpec& spec,
                                   const Vector& w,
                                   double regularizer_value) {
  SOTTO_ASSIGN(const auto outputs, network_outputs(table, spec, w));
  return evaluate_network(table, spec, w, regularizer_value, outputs);
}

Expected<Metrics> evaluate_network(const Table& table,
                                   const NetworkSpec& spec,
                                   const Vector& w,
                                   double regularizer_value,
                                   std::span<const double> outputs) {
  SOTTO_ASSIGN(const auto engine, NetworkEngine::make(table, thawed(spec)));
  Metrics metrics;
  metrics.rows = table.rows();
  metrics.classification = spec.loss != NetworkLoss::kSquared;
  std::vector<double> losses(static_cast<std::size_t>(table.rows()));
  for_each_block(*engine, engine->units(), [&](const Block& block, Engine::Workspace& workspace) {
    engine->evaluate_losses(block,
                            as_span(w),
                            workspace,
                            {losses.data() + block.begin, static_cast<std::size_t>(block.count)});
  });
  const auto rows = static_cast<double>(std::max<std::int64_t>(1, metrics.rows));
  for (const double loss : losses) metrics.loss += loss / rows;
  metrics.objective = metrics.loss + regularizer_value;
  const auto labels = table.labels();
  if (!metrics.classification) {
    measure_errors(outputs, labels, metrics);
    return metrics;
  }
  const bool softmax = spec.loss == NetworkLoss::kSoftmax;
  const auto width = static_cast<std::size_t>(engine->outputs());
  std::vector<std::size_t> truths(losses.size()), guesses(losses.size());
  std::vector<double> margins(losses.size());
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const std::span<const double> z = outputs.subspan(i * width, width);
    truths[i] = static_cast<std::size_t>(softmax ? labels[i] : labels[i] > 0);
    guesses[i] = static_cast<std::size_t>(predicted_class(spec, z));
    margins[i] = softmax && width > 1 ? z[1] - z[0] : z[0];
  }
  const std::size_t classes = softmax ? width : 2;
  count_classes(truths, guesses, classes, metrics);
  metrics.log_loss = mean_log_loss(outputs, truths, width);
  if (classes == 2) metrics.auc = area_under_roc(margins, labels);
  return metrics;
}

nlohmann::json to_json(const Metrics& metrics) {
  nlohmann::json json = {
      {"rows", metrics.rows}, {"loss", metrics.loss}, {"objective", metrics.objective}};
  if (metrics.classification) {
    json["accuracy"] = metrics.accuracy;
    if (metrics.confusion.size() == 2)
      json["auc"] = std::isnan(metrics.auc) ? nlohmann::json(nullptr) : nlohmann::json(metrics.auc);
    json["confusion"] = metrics.confusion;
  } else {
    json["rmse"] = metrics.rmse;
    json["mae"] = metrics.mae;
  }
  return json;
}

}  // namespace sotto
