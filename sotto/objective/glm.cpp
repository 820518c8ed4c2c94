#include "sotto/objective/glm.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sotto/core/check.hpp"
#include "sotto/loss/loss.hpp"
#include "sotto/loss/scalar_math.hpp"
#include "sotto/objective/glm_scratch.hpp"

namespace sotto {

using glm_kernels::RowList;

namespace {

using glm_kernels::DenseRows;
using glm_kernels::Kernels;
using glm_kernels::LossKernels;
using glm_kernels::SparseRows;

// A block's rows: half of a common second-level cache, and many enough that a block's fixed costs
// (calls, handing over its sum) don't show.
constexpr double kBlockBytes = 256 << 10;
constexpr double kLargestBlock = 1 << 16;

DenseRows dense_rows(const Table& table) { return {table.row(0), table.stride()}; }

SparseRows sparse_rows(const Table& table) {
  return {table.offsets().data(), table.columns().data(), table.values().data()};
}

LossKernels loss_kernels(const Kernels& kernels, LossKind kind) {
  switch (kind) {
    case LossKind::kLogistic:
      return kernels.logistic;
    case LossKind::kSigmoid:
      return kernels.sigmoid;
    case LossKind::kSquared:
      return kernels.squared;
    case LossKind::kHuber:
      return kernels.huber;
    case LossKind::kPhaseRetrieval:
      return kernels.phase_retrieval;
    case LossKind::kPoisson:
      return kernels.poisson;
    case LossKind::kOwn:
      return {};
  }
  SOTTO_CHECK(false && "unknown loss");
}

/// A program's own loss, as evaluate_losses takes losses.
struct OwnValue {
  static constexpr bool kOfPrediction = true;
  const OwnLoss& own;
  double value(double z, double y) const { return own.value(z, y); }
};

// More than all roundings between the true norm and what is reported or added, as in
// glm_kernels.cpp.
constexpr double kRoundUp = 1 + 0x1p-49;

std::int64_t choose_block_size(const Table& table) {
  const double units = static_cast<double>(std::max<std::int64_t>(table.units(), 1));
  const double dim = static_cast<double>(table.dim());
  double rows_in_cache;
  if (table.sparse()) {
    const double entries = 1 + static_cast<double>(table.values().size()) / units;
    // A block of a wide sparse table holds at least as many entries as its sum has.
    rows_in_cache = std::max(kBlockBytes / (8 * entries), dim / entries);
  } else {
    const double rows = static_cast<double>(table.rows()) / units;
    rows_in_cache = kBlockBytes / (4 * rows * static_cast<double>(table.stride()) + 1);
  }
  return static_cast<std::int64_t>(std::clamp(rows_in_cache, 8.0, kLargestBlock));
}

}  // namespace

GlmEngine::GlmEngine(const Table& table, const LossSpec& loss, const Kernels& kernels)
    : table_(table),
      loss_(loss),
      kernels_(kernels),
      loss_kernels_(loss_kernels(kernels, loss.kind)),
      width_(table.sparse() ? table.dim() : table.stride()),
      block_size_(choose_block_size(table)) {
  SOTTO_CHECK(loss.kind != LossKind::kOwn || (loss.own && loss.own->computable()));
  SOTTO_CHECK(std::isfinite(loss.threshold) && loss.threshold > 0);
}

std::unique_ptr<Engine::Workspace> GlmEngine::make_workspace() const {
  return std::make_unique<Scratch>();
}

void GlmEngine::predict_rows(RowList list, const double* w, double* predictions) const {
  if (table_.sparse())
    kernels_.sparse_predict(sparse_rows(table_), list, w, predictions);
  else
    kernels_.dense_predict(dense_rows(table_), list, w, predictions);
}

void GlmEngine::add_rows(RowList list, const double* coefficients, double* sum) const {
  if (table_.sparse())
    kernels_.sparse_add(sparse_rows(table_), list, coefficients, sum);
  else
    kernels_.dense_add(dense_rows(table_), list, coefficients, sum);
}

void GlmEngine::add_outer(RowList list,
                          const double* coefficients,
                          Scratch& scratch,
                          double* sum) const {
  if (table_.sparse()) {
    kernels_.sparse_add_outer(sparse_rows(table_), list, coefficients, table_.dim(), sum);
    return;
  }
  scratch.outer.resize(to_size(glm_kernels::outer_scratch(width_)));
  kernels_.dense_add_outer(
      dense_rows(table_), list, coefficients, table_.dim(), scratch.outer.data(), sum);
}

void GlmEngine::select_rows(const Block& block, Scratch& s) const {
  s.units = block.count;
  s.first.clear();
  if (!block.index) {
    // Consecutive units have consecutive rows.
    const std::int64_t begin = table_.unit_begin(block.begin);
    s.row_count = table_.unit_begin(block.begin + block.count) - begin;
    s.rows.resize(to_size(s.row_count));
    std::iota(s.rows.begin(), s.rows.end(), begin);
    s.labels = table_.labels().data() + begin;
    s.row_norms = table_.norms().data() + begin;
    if (table_.has_units())
      for (std::int64_t k = 0; k <= block.count; ++k)
        s.first.push_back(table_.unit_begin(block.begin + k) - begin);
    return;
  }
  s.rows.clear();
  if (table_.has_units()) {
    for (std::int64_t k = 0; k < block.count; ++k) {
      s.first.push_back(static_cast<std::int64_t>(s.rows.size()));
      for (auto i = table_.unit_begin(block[k]); i < table_.unit_begin(block[k] + 1); ++i)
        s.rows.push_back(i);
    }
    s.first.push_back(static_cast<std::int64_t>(s.rows.size()));
  } else {
    s.rows.assign(block.index, block.index + block.count);
  }
  s.row_count = static_cast<std::int64_t>(s.rows.size());
  s.gathered_labels.resize(s.rows.size());
  s.gathered_norms.resize(s.rows.size());
  for (std::size_t k = 0; k < s.rows.size(); ++k) {
    s.gathered_labels[k] = table_.labels()[to_size(s.rows[k])];
    s.gathered_norms[k] = table_.norms()[to_size(s.rows[k])];
  }
  s.labels = s.gathered_labels.data();
  s.row_norms = s.gathered_norms.data();
}

void GlmEngine::predict(const Block& block, std::span<const double> w, Scratch& s) const {
  SOTTO_CHECK(static_cast<std::int64_t>(w.size()) == parameters());
  select_rows(block, s);
  // What belongs to another block must not be added.
  s.coefficients.clear();
  s.curvatures.clear();
  s.predictions.resize(to_size(s.row_count));
  predict_rows(s.list(), padded(w, s.w), s.predictions.data());
}

const double* GlmEngine::padded(std::span<const double> w, std::vector<double>& memory) const {
  if (width_ == parameters()) return w.data();
  memory.assign(to_size(width_), 0.0);
  std::copy(w.begin(), w.end(), memory.begin());
  return memory.data();
}

void GlmEngine::differentiate(Order order,
                              const glm_kernels::LossArguments& in,
                              double* coefficients,
                              double* norms) const {
  const bool first = order == Order::kGradient;
  const auto settle = [&](std::int64_t k, double a) {
    coefficients[k] = std::abs(a) < 1e-250 ? 0 : a;
    const double x = in.row_norms[k];
    norms[k] = std::abs(coefficients[k]) * (first ? x : x * x) * kRoundUp;
  };
  if (loss_.kind == LossKind::kOwn) {
    // What is reported and what is added are made from one call: whatever a function returns, its
    // norm is the one that clipping sees, and one that is not a number is left out.
    const auto derivative = first ? loss_.own->first : loss_.own->second;
    for (std::int64_t k = 0; k < in.count; ++k)
      settle(k, derivative(in.predictions[k], static_cast<double>(in.labels[k])));
    return;
  }
  (first ? loss_kernels_.first : loss_kernels_.second)(in, coefficients, norms);
  if (loss_.weights == ClassWeights{}) return;
  for (std::int64_t k = 0; k < in.count; ++k)
    settle(k, class_weight(in.labels[k]) * coefficients[k]);
}

void GlmEngine::derive(Order order, Scratch& s, std::span<double> norms) const {
  SOTTO_CHECK(static_cast<std::int64_t>(norms.size()) >= s.units);
  const bool first = order == Order::kGradient;
  std::vector<double>& coefficients = first ? s.coefficients : s.curvatures;
  coefficients.resize(to_size(s.row_count));
  s.coefficient_norms.resize(to_size(s.row_count));
  differentiate(order,
                {s.predictions.data(), s.labels, s.row_norms, s.row_count, loss_.threshold},
                coefficients.data(),
                s.first.empty() ? norms.data() : s.coefficient_norms.data());
  if (s.first.empty()) return;
  for (std::size_t k = 0; k < to_size(s.units); ++k)
    norms[k] = unit_norm(order, s, s.first[k], s.first[k + 1]);
}

void GlmEngine::evaluate_gradients(const Block& block,
                                   std::span<const double> w,
                                   Workspace& workspace,
                                   std::span<double> norms) const {
  auto& s = static_cast<Scratch&>(workspace);
  predict(block, w, s);
  derive(Order::kGradient, s, norms);
}

void GlmEngine::evaluate_hessians(const Block& block,
                                  std::span<const double> w,
                                  Workspace& workspace,
                                  std::span<double> norms) const {
  auto& s = static_cast<Scratch&>(workspace);
  predict(block, w, s);
  derive(Order::kHessian, s, norms);
}

void GlmEngine::evaluate_gradients_and_hessians(const Block& block,
                                                std::span<const double> w,
                                                Workspace& workspace,
                                                std::span<double> gradient_norms,
                                                std::span<double> hessian_norms) const {
  auto& s = static_cast<Scratch&>(workspace);
  predict(block, w, s);
  derive(Order::kGradient, s, gradient_norms);
  derive(Order::kHessian, s, hessian_norms);
}

Capabilities GlmEngine::offers() const {
  const Capabilities all = {Capability::kGradients,
                            Capability::kPairs,
                            Capability::kCoordinates,
                            Capability::kHessians,
                            Capability::kLosses,
                            Capability::kPredictions};
  // All rows of a person have several predictions.
  return table_.has_units() ? all.without({Capability::kPredictions}) : all;
}

bool GlmEngine::is_convex() const {
  const LossInfo info = loss_info(loss_);
  return info.proven && info.inf_second >= 0;
}

const double* GlmEngine::weights_by_row(Scratch& s,
                                        std::span<const double> weights,
                                        std::vector<double>& memory) const {
  if (s.first.empty()) return weights.data();
  memory.resize(to_size(s.row_count));
  for (std::size_t k = 0; k < to_size(s.units); ++k)
    std::fill(memory.begin() + s.first[k], memory.begin() + s.first[k + 1], weights[k]);
  return memory.data();
}

RowList GlmEngine::weigh(Order order, Scratch& s, std::span<const double> weights) const {
  const auto& coefficients = order == Order::kGradient ? s.coefficients : s.curvatures;
  SOTTO_CHECK(static_cast<std::int64_t>(weights.size()) >= s.units);
  SOTTO_CHECK(static_cast<std::int64_t>(coefficients.size()) == s.row_count);
  const double* by_row = weights_by_row(s, weights, s.row_weights);
  s.weighted_rows.resize(to_size(s.row_count));
  s.weighted_coefficients.resize(to_size(s.row_count));
  return kernels_.weigh(s.list(),
                        coefficients.data(),
                        by_row,
                        s.weighted_rows.data(),
                        s.weighted_coefficients.data());
}

void GlmEngine::add_gradients(Workspace& workspace,
                              std::span<const double> weights,
                              std::span<double> sum) const {
  SOTTO_CHECK(static_cast<std::int64_t>(sum.size()) == parameters());
  auto& s = static_cast<Scratch&>(workspace);
  add_weighted(s, weigh(Order::kGradient, s, weights), sum);
}

/// sum += the rows of the list with the weighted coefficients, each unit's vector at once.
void GlmEngine::add_weighted(Scratch& s, RowList list, std::span<double> sum) const {
  if (!s.first.empty()) return add_units(s, list, sum);
  if (width_ == parameters()) {
    add_rows(list, s.weighted_coefficients.data(), sum.data());
    return;
  }
  s.padded_sum.assign(to_size(width_), 0.0);
  std::copy(sum.begin(), sum.end(), s.padded_sum.begin());
  add_rows(list, s.weighted_coefficients.data(), s.padded_sum.data());
  std::copy_n(s.padded_sum.begin(), sum.size(), sum.begin());
}

void GlmEngine::add_hessians(Workspace& workspace,
                             std::span<const double> weights,
                             std::span<double> sum) const {
  SOTTO_CHECK(static_cast<std::int64_t>(sum.size()) == parameters() * parameters());
  auto& s = static_cast<Scratch&>(workspace);
  const RowList list = weigh(Order::kHessian, s, weights);
  if (!s.first.empty()) return add_unit_hessians(s, list, sum);
  add_outer(list, s.weighted_coefficients.data(), s, sum.data());
}

void GlmEngine::add_hessian_products(Workspace& workspace,
                                     std::span<const double> weights,
                                     std::span<const double> v,
                                     std::span<double> sum) const {
  SOTTO_CHECK(static_cast<std::int64_t>(sum.size()) == parameters() && v.size() == sum.size());
  auto& s = static_cast<Scratch&>(workspace);
  const RowList list = weigh(Order::kHessian, s, weights);
  s.products.resize(to_size(list.count));
  predict_rows(list, padded(v, s.direction), s.products.data());
  for (std::size_t k = 0; k < to_size(list.count); ++k) s.weighted_coefficients[k] *= s.products[k];
  add_weighted(s, list, sum);
}

void GlmEngine::evaluate_losses(const Block& block,
                                std::span<const double> w,
                                Workspace& workspace,
                                std::span<double> losses) const {
  SOTTO_CHECK(static_cast<std::int64_t>(losses.size()) >= block.count);
  auto& s = static_cast<Scratch&>(workspace);
  predict(block, w, s);
  const auto evaluate = [&](const auto& loss) {
    const auto of_row = [&](std::size_t i) {
      return class_weight(s.labels[i]) *
             loss_value(loss, s.predictions[i], static_cast<double>(s.labels[i]));
    };
    for (std::size_t k = 0; k < to_size(s.units); ++k) {
      if (s.first.empty()) {
        losses[k] = of_row(k);
        continue;
      }
      losses[k] = 0;
      for (auto i = s.first[k]; i < s.first[k + 1]; ++i) losses[k] += of_row(to_size(i));
    }
  };
  switch (loss_.kind) {
    case LossKind::kLogistic:
      return evaluate(LogisticLoss<ScalarMath>{});
    case LossKind::kSigmoid:
      return evaluate(SigmoidLoss<ScalarMath>{});
    case LossKind::kSquared:
      return evaluate(SquaredLoss<ScalarMath>{});
    case LossKind::kHuber:
      return evaluate(HuberLoss<ScalarMath>{loss_.threshold});
    case LossKind::kPhaseRetrieval:
      return evaluate(PhaseRetrievalLoss<ScalarMath>{loss_.threshold});
    case LossKind::kPoisson:
      return evaluate(PoissonLoss<ScalarMath>{loss_.threshold});
    case LossKind::kOwn:
      return evaluate(OwnValue{*loss_.own});
  }
}

}  // namespace sotto
