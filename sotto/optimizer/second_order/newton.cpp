// dp-newton, and newton without privacy
//
// Problem     min_w F(w) = (1/n) sum_i loss(w; i) + r(w), not necessarily convex
// Update      (g_t, H_t) = noisy gradient and Hessian, one joint release with share s_t of the
// budget
//             H = mean of the noisy Hessians so far by precision, older ones less (memory)
//             h = -|H|_f^{-1} g: eigenvalues replaced by max(|lambda|, f), f = floor x noise level
//             w <- w + h min(1, longest_step / |h|)
// Privacy     gaussian(z_1), …, gaussian(z_T), z_t = z / sqrt(s_t), fixed before the run
// Guarantee   (epsilon, delta)-DP; no rate
// Source      own: joint release at no extra cost for logistic loss and symmetric noise of
//             docs/reference/methods/dp-newton.md; compare [AMBL23], and [GHST23] for its
//             eigenvalue floor
// Differs     -
//
// letter  meaning                                 option
// T       steps                                   steps
// s_t     share of the budget, grows as growth^t  growth
// f       floor of eigenvalues                    floor, in units of sigma_H sqrt(2 d)

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "sotto/core/dense_limit.hpp"
#include "sotto/geometry/trust_region.hpp"
#include "sotto/loss/joint_bound.hpp"
#include "sotto/optimizer/first_order/noisy_descent.hpp"
#include "sotto/optimizer/parts/smooth_objective.hpp"
#include "sotto/optimizer/parts/steps.hpp"
#include "sotto/optimizer/second_order/methods.hpp"
#include "sotto/optimizer/second_order/search_options.hpp"

namespace sotto {
namespace {

struct NewtonOptions {
  std::optional<std::int64_t> steps;
  double growth = 1.3;
  double floor = 1;
  double memory = 0.1;
  std::optional<double> longest_step;
  std::optional<double> clip_radius;
  std::optional<double> hessian_scale;
  Init init = Init::kZero;
  std::int64_t init_seed = 1;
};

class NoisyNewton final : public Optimizer {
 public:
  explicit NoisyNewton(NewtonOptions options) : o_(std::move(options)) {}

  Plan plan(const PublicProblem& problem, double noise_multiplier) const override {
    const Vector anywhere;
    std::vector<Event> events;
    std::int64_t samples = 0;
    for (std::int64_t t = 0; t < *o_.steps; ++t) {
      const JointQuery query = ask(problem, anywhere, noise_multiplier, t);
      events.push_back(event_of(query, problem.relation));
      samples += samples_of(query, problem.dimension);
    }
    return {Event::compose(std::move(events)), samples};
  }

  Expected<OptimizerResult> run(Oracle& oracle,
                                double noise_multiplier,
                                Observer& observer) const override {
    const PublicProblem& problem = oracle.problem();
    Vector w = initial_point(o_.init, o_.init_seed, problem.dimension);
    Matrix mean = Matrix::Zero(problem.dimension, problem.dimension);
    double precision = 0;  // of `mean`: one over its noise's variance
    Steps steps(observer, *o_.steps);
    SOTTO_TRY(steps.begin([&](Archive& state) {
      state("iterate", w)("mean Hessian", mean)(
          "precision", precision, 0, std::numeric_limits<double>::infinity());
    }));
    while (steps.next()) {
      SOTTO_ASSIGN(const auto released,
                   steps.unless_spent(oracle.gradient_and_hessian(
                       ask(problem, w, noise_multiplier, steps.made()))));
      if (!released) break;
      const NoisyGradientHessian& answer = released->value();
      remember(answer, mean, precision);

      Vector gradient = answer.gradient;
      problem.regularizer.add_gradient(w, gradient);
      Matrix H = mean;
      Vector diagonal = H.diagonal();
      problem.regularizer.add_hessian_diagonal(w, diagonal);
      H.diagonal() = diagonal;
      if (!H.allFinite()) {  // only without privacy, of rows beyond all measure: it has diverged
        w.setConstant(std::numeric_limits<double>::quiet_NaN());
        break;
      }
      const Vector step = damped(symmetric_eigen(H), gradient, noise_floor(problem, precision));
      w += step;
      steps.finish(step.norm(), gradient.norm(), &w);
    }
    return steps.result(std::move(w));
  }

 private:
  JointQuery ask(const PublicProblem& problem, const Vector& w, double z, std::int64_t t) const {
    return {
        w,
        Sampling::full(),
        *o_.clip_radius,
        *o_.hessian_scale,
        z / std::sqrt(share(t)),
        problem.linear_rows && std::isfinite(problem.row_norm) ? ClipRule::kGlm : ClipRule::kFlat};
  }

  /// Of the budget, for step t; all shares add up to 1.
  double share(std::int64_t t) const {
    double sum = 0;
    for (std::int64_t k = 0; k < *o_.steps; ++k) sum += std::pow(o_.growth, static_cast<double>(k));
    return std::pow(o_.growth, static_cast<double>(t)) / sum;
  }

  /// The mean of the noisy Hessians so far. Each was taken at another point: older ones count less.
  void remember(const NoisyGradientHessian& answer, Matrix& mean, double& precision) const {
    const double fresh = 1 / std::max(answer.hessian_sigma * answer.hessian_sigma, 1e-300);
    const double old = answer.hessian_sigma > 0 ? o_.memory * precision : 0;
    mean = (old * mean + fresh * answer.hessian) / (old + fresh);
    // The old part's noise weighs old² / precision = memory x old.
    precision = (old + fresh) * (old + fresh) / (o_.memory * old + fresh);
  }

  double noise_floor(const PublicProblem& problem, double precision) const {
    // Where noise is absent the floor only keeps the inverse finite.
    const double smallest = 1e-9 * row_scale(problem) * row_scale(problem);
    return std::max(o_.floor * std::sqrt(2 * static_cast<double>(problem.dimension) / precision),
                    smallest);
  }

  Vector damped(const SymmetricEigen& H, const Vector& gradient, double floor) const {
    const Vector along = H.vectors.transpose() * gradient;
    const Vector step = -H.vectors * along.cwiseQuotient(H.values.cwiseAbs().cwiseMax(floor));
    return step * std::min(1.0, *o_.longest_step / std::max(step.norm(), 1e-300));
  }

  NewtonOptions o_;
};

OptionTable<NewtonOptions> newton_options() {
  using O = NewtonOptions;
  OptionTable<O> table;
  table.integer("steps", &O::steps, "number of steps T, each one pass over the data")
      .range(1, 10'000)
      .number("growth", &O::growth, "each step's share of the budget, against the one before")
      .range(1, 10)
      .number("floor",
              &O::floor,
              "eigenvalues are at least this many times the Hessian noise's spectral norm")
      .positive()
      .number("memory",
              &O::memory,
              "what earlier Hessians count in their mean, against the next one; 0: not at all")
      .range(0, 1)
      .number("longest_step", &O::longest_step, "steps are no longer than this, in the norm of w")
      .positive()
      .number("clip_radius",
              &O::clip_radius,
              "per-unit pairs of gradient and Hessian are clipped to this joint norm")
      .positive()
      .number("hessian_scale",
              &O::hessian_scale,
              "the Hessian's noise against the gradient's; auto: the Hessian costs nothing beyond "
              "the gradient's own bound")
      .positive()
      .choice("init", &O::init, kInits, "w_0: 0, or N(0, I) from init_seed, public")
      .integer("init_seed", &O::init_seed, "public seed of a normal w_0");
  return table;
}

Expected<ConfiguredMethod> configure_newton(const GivenOptions& given, const PublicFacts& facts) {
  const auto table = newton_options();
  SOTTO_ASSIGN(const NewtonOptions asked, table.parse(given));
  NewtonOptions o = asked;
  const PublicProblem& p = facts.problem;
  SOTTO_TRY(require_smooth(p, "Newton steps need"));
  SOTTO_TRY(check_dense_hessian(p.dimension));
  const double R = row_scale(p);
  if (!o.steps) o.steps = 8;
  if (!o.longest_step) o.longest_step = 4 / R * std::max(1.0, R);
  if (!o.hessian_scale) {
    const double free = free_hessian_scale(p.loss, R);
    o.hessian_scale = std::isfinite(free) ? free : R;
  }
  if (!o.clip_radius) {
    const double bound = R * p.loss.sup_first;
    o.clip_radius = std::isfinite(bound) ? bound : default_clip_radius(p);
  }
  auto settings = table.settings(asked, o, given);
  settings.push_back(hessian_cost(p, 0, *o.hessian_scale));
  return ConfiguredMethod{std::make_unique<NoisyNewton>(o), std::move(settings)};
}

}  // namespace

std::vector<MethodInfo> newton_methods() {
  const auto method = [](std::string name, std::string summary, bool is_private) {
    return MethodInfo{.name = std::move(name),
                      .summary = std::move(summary),
                      .needs = {Capability::kGradients, Capability::kHessians},
                      .needs_of_problem = "a smooth regularizer",
                      .guarantees = is_private ? "(epsilon, delta)-DP" : "NOT private",
                      .is_private = is_private,
                      .source = is_private ? "own" : "",
                      .page = "dp-newton",
                      .options = newton_options().infos(),
                      .configure = configure_newton};
  };
  return {
      method("dp-newton", "Newton steps on a joint noisy gradient and Hessian, few passes", true),
      method("newton", "dp-newton without clipping and noise: a reference", false)};
}

}  // namespace sotto
