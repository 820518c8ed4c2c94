#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/optimizer/option_table.hpp"
#include "sotto/optimizer/registry.hpp"

namespace sotto {

// What the searches for second-order points share: the dp-tr family (trust_region_search.hpp) and
// the opt family (descent_search.hpp). A point is an (eps_g, eps_H)-second-order point if
// |grad F(w)| <= eps_g and the smallest eigenvalue of the Hessian is at least -eps_H.

/// w_0: 0, or N(0, I) from a public seed.
enum class Init { kZero, kNormal };
inline constexpr Named<Init> kInits[] = {{Init::kZero, "zero"}, {Init::kNormal, "normal"}};
/// kLanczos forms no Hessian; kAuto: above 2000 dimensions.
enum class Solver { kAuto, kDense, kLanczos };
/// kNone for methods without one.
enum class LineSearch { kNone, kGumbel, kSparseVector };

struct SearchOptions {
  std::optional<double> gradient_tolerance;   ///< eps_g
  std::optional<double> curvature_tolerance;  ///< eps_H
  std::optional<std::int64_t> steps;          ///< T
  std::optional<double> gap;                  ///< bound on F(w_0) - inf F
  double loss_clip = 4;
  std::optional<double> clip_radius;
  std::optional<double> hessian_clip;
  std::optional<double> smoothness;         ///< Lipschitz constant of the gradient
  std::optional<double> hessian_lipschitz;  ///< of the Hessian
  bool curvature_floor = true;
  Init init = Init::kZero;
  std::int64_t init_seed = 1;
  std::optional<std::int64_t> expected_batch;          ///< none: full batches
  Sampling::Kind sampling = Sampling::Kind::kPoisson;  ///< of batches
  double precision = 0.5;
  double stop_confidence = 0.999;
  double certificate_share = 0.1;
  double certificate_confidence = 0.95;
  // Trust-region steps.
  std::optional<double> radius;
  bool stop_by_multiplier = false;  ///< as published, not by confidence bounds
  Solver solver = Solver::kAuto;
  std::int64_t products = 100;
  bool theory_sizes = false;  ///< dp-str: batches of [WX20, Theorem 4]
  double sample_miss = 0.05;  ///< zeta of [WX20, Theorem 4]
  // Gradient and curvature steps.
  LineSearch line_search = LineSearch::kGumbel;
  std::int64_t candidates = 8;
  double longest_step = 20;
  double line_search_share = 0.3;
  double first_phase_share = 0.75;

  // Not options: decided by the method's name and by public facts.
  bool two_phases = false;
  std::int64_t test_products = 0;  ///< lanczos: with a Hessian, to test its smallest eigenvalue
  std::uint64_t probe_seed = 0;    ///< lanczos: of its random starts
  bool curvature_steps = true;     ///< else the gradient's noise is what leaves a saddle
  bool holds_everywhere = false;   ///< the second-order condition, by algebra
  double single_release = 0;       ///< multiplier of one release with the whole budget; 0: exact
  std::function<double(const Sampling&, double)> sampled_price;  ///< see PublicFacts
};

/// Of the budget, or a probability: none may be smaller.
inline constexpr double kLeastShare = 1e-9;

/// Options of every search.
void add_search_options(OptionTable<SearchOptions>& table);
void add_solver_option(OptionTable<SearchOptions>& table);
void add_trust_region_options(OptionTable<SearchOptions>& table);
void add_line_search_options(OptionTable<SearchOptions>& table);
void add_batch_option(OptionTable<SearchOptions>& table);
void add_sample_size_options(OptionTable<SearchOptions>& table);

/// Refuses settings that don't go together or don't fit the problem, with the remedy.
Expected<void> check(const SearchOptions& options, const PublicProblem& problem);

/// Fills what the user left open, from public facts. Fails where a constant is infinite for this
/// loss and must be given.
Expected<SearchOptions> with_search_defaults(SearchOptions options, const PublicFacts& facts);

/// How a step's batch is drawn.
Sampling step_sampling(const SearchOptions& options, const PublicProblem& problem);

/// Which filter prices the run's releases.
std::string filter_of(const SearchOptions& options);

/// w_0.
Vector initial_point(Init init, std::int64_t seed, std::int64_t dimension);

/// A bound on F(w_0) - inf F that needs no data; none if the loss has no bound at w_0.
std::optional<double> public_gap(const PublicProblem& problem, const Vector& start);

/// The steps after which a gap is used up if each decreases F by `least_decrease`; limited to what
/// a plan of noise samples can carry.
std::int64_t steps_for(double gap, double least_decrease);
/// A bound on the steps of a run, before it looks at anything.
std::int64_t most_steps(const SearchOptions& options, double least_decrease);

/// curvature_floor(), or minus infinity where the relation does not bound the number of units: the
/// sum over more than were declared bends as much more, unless its terms are convex.
double certain_floor(const PublicProblem& problem);

/// The width of an interval that holds all eigenvalues of the full batch's Hessian of F: from the
/// loss's bounds and the clip radius.
double hessian_width(const SearchOptions& options, const PublicProblem& problem);

/// The larger of the two sample sizes of [WX20, Theorem 4], rounded up and at most n: G² ln(d/zeta)
/// / alpha² for gradients, L² ln(d/zeta) / (alpha M) for Hessians, with alpha = eps_g, G and L the
/// Lipschitz constants of a unit's loss and of its gradient. (The theorem's print has L for G and M
/// for L; both sizes are stated up to a constant, which only the paper's appendix has: 1 here.)
std::int64_t theorem4_batch(const SearchOptions& options, const PublicProblem& problem);

/// Refuses what the method's Hessians can't do: dense ones, or Lanczos bases, that don't fit.
Expected<void> check_hessian_size(const SearchOptions& options, const PublicProblem& problem);

/// What follows from public facts and is worth saying: whether algebra alone settles the
/// second-order condition, so that the whole budget goes to gradients, or how it is tested.
Setting second_order_condition(const SearchOptions& options);
/// By how much the Hessian in a joint release raises the gradient's noise at w_0.
Setting hessian_cost(const PublicProblem& problem, double length_of_w, double hessian_scale);

/// What to expect of the gradient's norm at w_0: per-unit gradients largely cancel in the mean.
double first_norm(const PublicProblem& problem);
/// R, or 1 if no bound was declared.
double row_scale(const PublicProblem& problem);

}  // namespace sotto
