#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "sotto/core/error.hpp"
#include "sotto/geometry/stationarity.hpp"
#include "sotto/geometry/trust_region.hpp"
#include "sotto/optimizer/parts/steps.hpp"
#include "sotto/optimizer/second_order/search_options.hpp"
#include "sotto/oracle/api/oracle.hpp"

namespace sotto {

/// A released gradient, with the regularizer's added, and a Hessian if one came with it.
struct Look {
  Vector gradient;
  double sigma = 0;  ///< of each coordinate's noise
  double norm = 0;
  double estimate = 0;  ///< of the true norm
  double upper = 0;     ///< upper confidence bound on it
  std::optional<Matrix> hessian;
  std::optional<SymmetricEigen> eigen;  ///< of the Hessian, once somebody asked
  double hessian_sigma = 0;
  bool limited = false;  ///< this batch gives no finer noise
};

/// A released Hessian, with the regularizer's added.
struct CurvatureLook {
  Matrix matrix;           ///< none by Lanczos
  SymmetricEigen hessian;  ///< by Lanczos the lowest pair alone
  double sigma = 0;
  double margin = 0;  ///< what noise and Lanczos may have added to the smallest eigenvalue
  /// Lower confidence bound on the smallest eigenvalue.
  double lower() const { return hessian.values[0] - margin; }
};

/// Asks an oracle with just the noise that a search needs: noise whose norm is `precision` of the
/// gradient's, as far as earlier answers tell, and at the finest `precision` of eps_g. Releases are
/// therefore chosen adaptively, under a filter. On a batch the noise is never so fine that fewer
/// than kLeastReleases of its kind would use up the budget: a small batch at the precision of the
/// full data may cost more than there is. It keeps account of the budget's use as a guide - only
/// the filter decides - and refuses (kBudget) what would eat the certificate's share.
class Scout {
 public:
  static constexpr double kLeastReleases = 16;
  static constexpr int kMostGlances = 4;

  Scout(Oracle& oracle, const SearchOptions& options);

  /// The noise's standard deviation at which a point can be accepted.
  double finest() const;

  /// One release of the gradient with noise `sigma` a coordinate (a little more: noise multipliers
  /// lie on a grid).
  Expected<Look> slope(const Vector& w, double sigma, const Sampling& sampling);
  /// Gradient and Hessian in one release; `sigma` is the gradient's.
  Expected<Look> joint(const Vector& w, double sigma, const Sampling& sampling);
  /// A Hessian precise enough to compare its smallest eigenvalue with -eps_H.
  Expected<CurvatureLook> curvature(const Vector& w, const Sampling& sampling);

  /// A trust-region step for `look`'s gradient by products with a noisy Hessian that is never
  /// formed. None if `flat` and the smallest eigenvalue passes the test too.
  Expected<std::optional<TrustRegionStep>> operator_step(
      const Vector& w, const Look& look, double radius, const Sampling& sampling, bool flat);

  /// Repeats `measure(sigma)` with finer noise until the answer's norm stands out of it, its
  /// Hessian is clearly bent, or the noise is at its finest; answers are averaged by precision. A
  /// batch whose finest noise leaves it unsure of the bend is looked at again, kMostGlances times
  /// at most: that is cheaper than the pass over all rows which a point without a bend is given.
  /// The first noise follows from `hint`, about what norm to expect.
  Expected<Look> look(double hint, const std::function<Expected<Look>(double)>& measure);

  /// Is the smallest eigenvalue below -eps_H? Full batches: yes if even with all that the noise may
  /// have added, else no. A batch only says where to go: yes with what the noise likely added,
  /// unsure if without it.
  enum class Bend { kNo, kUnsure, kYes };
  Bend bend(const SymmetricEigen& hessian, double sigma) const;
  /// Of a look's Hessian; kNo if it has none, or algebra says so.
  Bend bend(Look& look) const;
  /// The Hessian on batches until the bend is sure, kMostGlances at most. They are averaged; by
  /// Lanczos, which forms none, the last one counts.
  Expected<CurvatureLook> glance(const Vector& w, const Sampling& sampling);

  /// A noise multiplier for a full-batch release worth `share` of the budget.
  double multiplier_of_share(double share) const;
  /// The same for a release on a Poisson sample.
  double multiplier_of_share(double share, const Sampling& sampling) const;
  /// A slope at a fixed multiplier.
  Expected<Look> slope_with(const Vector& w, double multiplier, const Sampling& sampling);
  /// Pays (in the guide) for an exponential mechanism or a sparse vector session that costs
  /// `rho` in zCDP, or refuses.
  Expected<void> spend_rho(double rho);
  /// zCDP of the last Gaussian release.
  double last_rho() const { return last_rho_; }

  /// Begins a search at `w` that carries `expected_norm` from step to step. Plans the steps T that
  /// the options or the gap allow, `least_decrease` per step; a gap that is not public is measured
  /// and paid for, unless the run is resumed.
  Expected<void> begin(Steps& steps, Vector& w, double& expected_norm, double least_decrease);

  /// A certificate of w by a fresh release with the share kept for it; none if no share was kept.
  /// What stops it (a refusal of the filter) makes a refused certificate, not an error.
  std::optional<Certificate> certify(const Vector& w);
  OptimizerResult certified(OptimizerResult result) {
    result.certificate = certify(result.w);
    return result;
  }

  /// What a step leaves to the next: the guide's account, and how far the random starts are used.
  void archive(Archive& state);

  const PublicProblem& problem() const { return problem_; }
  bool bounded() const { return bounded_; }

 private:
  bool by_diameter(const Sampling& sampling) const;
  double gradient_unit(const Vector& w, const Sampling& sampling) const;
  double hessian_unit(const Vector& w, const Sampling& sampling) const;
  double joint_unit(const Vector& w, double scale, const Sampling& sampling) const;
  double hessian_scale(const Vector& w) const;
  double joint_clip(const Vector& w, double scale) const;
  double price(double multiplier, const Sampling& sampling) const;
  Expected<double> buy(double multiplier, const Sampling& sampling);
  bool limited(double multiplier, const Sampling& sampling) const;
  Look finish(const Vector& w, Vector gradient, double sigma) const;
  Expected<CurvatureLook> hessian_with(const Vector& w,
                                       double multiplier,
                                       const Sampling& sampling,
                                       double miss);
  double eigenvalue_margin(double sigma, double miss) const;
  bool lanczos() const { return options_.solver == Solver::kLanczos; }
  Expected<std::int64_t> planned_steps(const Vector& start, double least_decrease);
  Expected<Certificate> certify_now(const Vector& w);
  double batch(const Sampling& sampling) const;
  ClipRule rule() const { return bounded_ ? ClipRule::kGlm : ClipRule::kFlat; }

  Oracle& oracle_;
  const SearchOptions& options_;
  const PublicProblem& problem_;
  bool bounded_;       ///< sensitivities follow the public iterate
  double factor_ = 1;  ///< what the filter charges against exact Gaussian accounting, about
  double spent_ = 0;   ///< share of the budget, about
  double reserve_ = 0;
  double last_rho_ = 0;
  double least_multiplier_ = 0;  ///< on a batch
  std::uint64_t probes_ = 0;     ///< random starts used so far
  mutable double scale_ = 0;     ///< the last hessian_scale, for |w| about scale_length_
  mutable double scale_length_ = 0;
};

}  // namespace sotto
