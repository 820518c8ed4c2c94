#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "sotto/data/table.hpp"
#include "sotto/loss/loss_info.hpp"
#include "sotto/objective/engine.hpp"
#include "sotto/objective/glm_kernels.hpp"

namespace sotto {

/// The engine of linear models: losses ℓ(⟨x, w⟩, y) over a dense or CSR table, float64 arithmetic
/// on float32 rows.
///
/// A row's gradient is ℓ'·x, so that its norm is |ℓ'|·‖x‖ from the table's precomputed norms, and a
/// Hessian's Frobenius norm |ℓ''|·‖x‖²: no per-example vector exists. A unit of several rows is
/// their sum; its norms are computed from the summed gradient, and from the rows' Gram matrix
/// ‖Σ a_i x_i x_iᵀ‖_F² = Σ_ij a_i a_j ⟨x_i, x_j⟩² or, with more rows than columns, the summed
/// matrix.
///
/// Rounding: what add_* adds for one example and weight v (before the addition itself rounds) has a
/// norm of at most v · (reported norm) + 1e-300; a derivative below 1e-250 counts, and adds, as 0.
///
/// Cost: two passes over a block's rows, the second from the cache; Hessians dim² / 2 per row.
/// The table must outlive the engine. For the classification losses its labels must be ±1.
class GlmEngine final : public Engine {
 public:
  GlmEngine(const Table& table,
            const LossSpec& loss,
            const glm_kernels::Kernels& kernels = glm_kernels::fastest());

  Capabilities offers() const override;
  PrivateCount units() const override { return table_.units(); }
  std::span<const std::uint8_t> null_units() const override { return table_.null_units(); }
  std::int64_t parameters() const override { return table_.dim(); }
  std::int64_t block_size() const override { return block_size_; }
  std::unique_ptr<Workspace> make_workspace() const override;

  void evaluate_gradients(const Block& block,
                          std::span<const double> w,
                          Workspace& workspace,
                          std::span<double> norms) const override;
  void add_gradients(Workspace& workspace,
                     std::span<const double> weights,
                     std::span<double> sum) const override;
  void evaluate_gradient_pairs(const Block& block,
                               std::span<const double> w,
                               std::span<const double> before,
                               Workspace& workspace) const override;
  void pair_norms(Workspace& workspace,
                  double gradient,
                  double difference,
                  std::span<double> norms) const override;
  void add_gradient_pairs(Workspace& workspace,
                          std::span<const double> gradient,
                          std::span<const double> difference,
                          std::span<double> sum) const override;
  bool is_linear_within(double norm) const override;
  /// Where units are rows: glm_coordinates.cpp.
  void evaluate_predictions(const Block& block,
                            std::span<const double> w,
                            Workspace& workspace,
                            std::span<double> predictions) const override;
  void move_predictions(const Block& block,
                        double shrink,
                        std::int64_t coordinate,
                        double step,
                        std::span<double> predictions) const override;
  void evaluate_max_norms(const Block& block,
                          std::span<const double> predictions,
                          Workspace& workspace,
                          std::span<double> norms) const override;
  void add_on_grid(Workspace& workspace,
                   std::span<const double> weights,
                   double scale,
                   std::int64_t limit,
                   std::span<std::int64_t> sums) const override;
  void evaluate_losses(const Block& block,
                       std::span<const double> w,
                       Workspace& workspace,
                       std::span<double> losses) const override;
  void evaluate_hessians(const Block& block,
                         std::span<const double> w,
                         Workspace& workspace,
                         std::span<double> norms) const override;
  void add_hessians(Workspace& workspace,
                    std::span<const double> weights,
                    std::span<double> sum) const override;
  void add_hessian_products(Workspace& workspace,
                            std::span<const double> weights,
                            std::span<const double> v,
                            std::span<double> sum) const override;
  void evaluate_gradients_and_hessians(const Block& block,
                                       std::span<const double> w,
                                       Workspace& workspace,
                                       std::span<double> gradient_norms,
                                       std::span<double> hessian_norms) const override;
  bool is_convex() const override;

 private:
  struct Scratch;

  enum class Order { kGradient, kHessian };

  /// Of a row with this label: a part of the loss (loss/class_weights.proof.md).
  double class_weight(float label) const {
    return label > 0 ? loss_.weights.positive : loss_.weights.negative;
  }
  /// What the loss says of an order's derivatives (glm_kernels::LossKernels).
  void differentiate(Order order,
                     const glm_kernels::LossArguments& in,
                     double* coefficients,
                     double* norms) const;
  /// Coefficients and norms of one order at the block's predictions.
  void derive(Order order, Scratch& scratch, std::span<double> norms) const;
  /// The largest absolute entry of every row; computed once, when first needed.
  const std::vector<double>& row_maxima() const;
  void select_rows(const Block& block, Scratch& scratch) const;
  void predict(const Block& block, std::span<const double> w, Scratch& scratch) const;
  const double* padded(std::span<const double> w, std::vector<double>& memory) const;
  const double* weights_by_row(Scratch& scratch,
                               std::span<const double> weights,
                               std::vector<double>& memory) const;
  void add_weighted(Scratch& scratch, glm_kernels::RowList list, std::span<double> sum) const;
  glm_kernels::RowList weigh(Order order, Scratch& scratch, std::span<const double> weights) const;

  /// Units of several rows: a unit's rows are summed first, and the sum is added once.
  template <class Body>
  void for_each_unit(const Scratch& scratch, glm_kernels::RowList list, const Body& body) const;
  void add_units(Scratch& scratch, glm_kernels::RowList list, std::span<double> sum) const;
  void add_unit_hessians(Scratch& scratch, glm_kernels::RowList list, std::span<double> sum) const;
  double unit_norm(Order order, Scratch& scratch, std::int64_t begin, std::int64_t end) const;
  double unit_gradient_norm(Scratch& scratch,
                            glm_kernels::RowList list,
                            const double* coefficients,
                            double bound) const;
  double unit_hessian_norm_by_rows(Scratch& scratch,
                                   glm_kernels::RowList list,
                                   const double* coefficients,
                                   double bound) const;
  double unit_hessian_norm_by_columns(Scratch& scratch,
                                      glm_kernels::RowList list,
                                      const double* coefficients,
                                      double bound) const;

  void predict_rows(glm_kernels::RowList list, const double* w, double* predictions) const;
  void add_rows(glm_kernels::RowList list, const double* coefficients, double* sum) const;
  void add_outer(glm_kernels::RowList list,
                 const double* coefficients,
                 Scratch& scratch,
                 double* sum) const;

  const Table& table_;
  LossSpec loss_;
  const glm_kernels::Kernels& kernels_;
  glm_kernels::LossKernels loss_kernels_;
  std::int64_t width_;  ///< length of vectors that kernels read: dim, padded for dense tables
  std::int64_t block_size_;
  mutable std::once_flag maxima_computed_;
  mutable std::vector<double> row_maxima_;
};

}  // namespace sotto
