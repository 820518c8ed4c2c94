#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "sotto/core/capabilities.hpp"
#include "sotto/core/private_count.hpp"

namespace sotto {

/// The units of one block: `count` consecutive ones from `begin`, or those that `index` lists.
struct Block {
  const std::int64_t* index = nullptr;  ///< null: begin, begin + 1, …
  std::int64_t begin = 0;
  std::int64_t count = 0;
  std::int64_t operator[](std::int64_t k) const { return index ? index[k] : begin + k; }
};

/// Computes per-example quantities for a cache-sized block of examples, and weighted sums of them.
/// Engines never clip and never see noise: weights come from the oracle (oracle/clip_rule.hpp).
/// An "example" here is a unit of privacy: a row, or all rows of one person summed.
///
/// Use: one Workspace a thread; evaluate_*(block) once, then add_* as often as needed. All sums are
/// float64. A result depends only on the block's rows and w, never on threads or earlier calls.
class Engine {
 public:
  /// Scratch memory for one thread; made by make_workspace, private to the engine.
  class Workspace {
   public:
    virtual ~Workspace() = default;
  };

  virtual ~Engine() = default;

  /// What else than these it can do; to ask for anything that is not in it is a bug.
  virtual Capabilities offers() const {
    return {Capability::kGradients, Capability::kCoordinates, Capability::kLosses};
  }

  virtual PrivateCount units() const = 0;
  virtual std::int64_t parameters() const = 0;
  /// Largest count of a block; sized so that a block's rows stay in the cache. Decides how fast
  /// sums are, never their bits, and no bound: it may follow the rows.
  virtual std::int64_t block_size() const = 0;
  /// A mark for every unit: not 0 if it is a null, which adds nothing to anything. Empty: none is.
  virtual std::span<const std::uint8_t> null_units() const { return {}; }
  virtual std::unique_ptr<Workspace> make_workspace() const = 0;

  /// Evaluates the block's examples at w; norms[k] = norm of example k's gradient, never below the
  /// true norm of what add_gradients adds for weight 1 (rounded up by a proved bound).
  /// An example with a non-finite norm reports NaN or infinity; the caller gives it weight 0.
  virtual void evaluate_gradients(const Block& block,
                                  std::span<const double> w,
                                  Workspace& workspace,
                                  std::span<double> norms) const = 0;

  /// sum += sum_k weights[k] * gradient of example k, for the block last evaluated. Weight 0 adds
  /// exactly nothing, even where the gradient is not finite.
  virtual void add_gradients(Workspace& workspace,
                             std::span<const double> weights,
                             std::span<double> sum) const = 0;

  /// Gradients at two points in one visit of the rows. An example's two pieces are its gradient
  /// g(w) and the difference g(w) - g(before).
  virtual void evaluate_gradient_pairs(const Block& block,
                                       std::span<const double> w,
                                       std::span<const double> before,
                                       Workspace& workspace) const;
  /// norms[k] = norm of gradient · g(w) + difference · (g(w) - g(before)) of example k, never below
  /// the norm of what add_gradient_pairs adds for these two weights. As for gradients, NaN or
  /// infinity if a piece with a weight other than 0 is not finite.
  virtual void pair_norms(Workspace& workspace,
                          double gradient,
                          double difference,
                          std::span<double> norms) const;
  /// sum += sum_k gradient[k] · g(w) + difference[k] · (g(w) - g(before)). A weight of 0 adds
  /// exactly nothing of its piece.
  virtual void add_gradient_pairs(Workspace& workspace,
                                  std::span<const double> gradient,
                                  std::span<const double> difference,
                                  std::span<double> sum) const;

  /// The parts of the parameter vector that may be clipped each on its own (a network's layers).
  /// Both calls belong to the block last evaluated by evaluate_gradients; norms and weights have
  /// layers() numbers per example, and norms[k · layers() + l] is never below the norm of what
  /// add_layer_gradients adds for weight 1 of layer l.
  virtual std::int64_t layers() const { return 1; }
  virtual void layer_norms(Workspace& workspace, std::span<double> norms) const;
  virtual void add_layer_gradients(Workspace& workspace,
                                   std::span<const double> weights,
                                   std::span<double> sum) const;

  /// True if every example is one row, its gradient a multiple of that row, and no row is longer
  /// than `norm`: what sensitivities that follow the iterate rest on.
  virtual bool is_linear_within(double) const { return false; }

  /// Sums of gradients as integers, by coordinate, for models whose examples depend on w through
  /// one number each, the prediction, that the caller keeps (oracle/coordinate_sums.hpp). Blocks
  /// are of consecutive examples; predictions and norms are the block's.
  virtual void evaluate_predictions(const Block& block,
                                    std::span<const double> w,
                                    Workspace& workspace,
                                    std::span<double> predictions) const;
  /// The predictions follow w <- shrink · w + step · e_coordinate.
  virtual void move_predictions(const Block& block,
                                double shrink,
                                std::int64_t coordinate,
                                double step,
                                std::span<double> predictions) const;
  /// norms[k] = largest absolute entry of example k's gradient; NaN or infinity if not finite.
  virtual void evaluate_max_norms(const Block& block,
                                  std::span<const double> predictions,
                                  Workspace& workspace,
                                  std::span<double> norms) const;
  /// sums[j] += the integer nearest to scale · weights[k] · (entry j of example k's gradient), but
  /// never more than ± limit, for every example of the block last evaluated. Weight 0 adds nothing.
  virtual void add_on_grid(Workspace& workspace,
                           std::span<const double> weights,
                           double scale,
                           std::int64_t limit,
                           std::span<std::int64_t> sums) const;

  /// losses[k] = loss of example k at w.
  virtual void evaluate_losses(const Block& block,
                               std::span<const double> w,
                               Workspace& workspace,
                               std::span<double> losses) const = 0;

  /// As for gradients, with the Frobenius norm of each example's Hessian; `sum` is the dense
  /// parameters x parameters matrix, of which only the lower triangle (row >= column, row-major) is
  /// written.
  virtual void evaluate_hessians(const Block& block,
                                 std::span<const double> w,
                                 Workspace& workspace,
                                 std::span<double> norms) const;
  virtual void add_hessians(Workspace& workspace,
                            std::span<const double> weights,
                            std::span<double> sum) const;
  /// sum += sum_k weights[k] · Hessian of example k · v, without any matrix.
  virtual void add_hessian_products(Workspace& workspace,
                                    std::span<const double> weights,
                                    std::span<const double> v,
                                    std::span<double> sum) const;
  /// Gradients and Hessians in one visit of the rows: then add_gradients and add_hessians both
  /// refer to this block.
  virtual void evaluate_gradients_and_hessians(const Block& block,
                                               std::span<const double> w,
                                               Workspace& workspace,
                                               std::span<double> gradient_norms,
                                               std::span<double> hessian_norms) const;
  /// True if every example's Hessian is positive semidefinite at every w.
  virtual bool is_convex() const { return false; }
};

}  // namespace sotto
