// adp-sgd
//
// Problem     min_w F(w) = (1/n) sum_i loss(w; i) + r(w), not necessarily convex
// Update      g_t = (sum_{i in B} clip_C(grad loss_i(w)) + alpha_t noise) / (expected |B|)
//             w <- w - (eta / b_{t+1})(g_t + grad r(w))
//             polynomial: b_t = sqrt(a + c t)
//             adagrad: b_{t+1}^2 = b_t^2 + max(beta_t (|g_t|^2 - d s_t^2), nu)
//             noise matched: alpha_t^2 ~ sqrt(a + c t), which with adagrad steps is Proposition 5.2
//             for c = its C; adaptive: ~ b_t; constant: alpha_t = 1, the paper's DP-SGD
// Privacy     matched, constant: a plan of poisson(q, gaussian(z alpha_t)), or of fixed_size(b, n,
//             gaussian(z alpha_t)); adaptive: a Renyi filter is charged before each release and
//             ends the run
// Guarantee   (epsilon, delta)-DP; of all alpha of equal price alpha^2 ~ b does least damage
// Source      [ADP21] Alg. 1, Propositions 5.1 (polynomial) and 5.2 (adagrad)
// Differs     adagrad steps read the *released* gradient, less the noise's own part d s^2 (the
//             paper's rule reads the true one and is not private); Poisson batches and clipping
//             instead of one record and a bounded gradient; the noise is calibrated, not that of
//             Theorem 4.1; matched noise changes in at most `groups` stages; alpha may follow b
//             during the run; the last iterate or a tail average is returned. The page has all.
//
// letter     meaning                         option
// T, q       steps, expected batch / n       steps, expected_batch, sampling
// eta, a, c  the step size                   step_size, offset, slope
// beta_t, nu the adagrad step                beta, beta_period, nu
// s_t        noise on a mean's coordinate    follows from z, alpha_t, C (clip_radius, clip_rule)

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/check.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/optimizer/first_order/methods.hpp"
#include "sotto/optimizer/parts/clip_rule_option.hpp"
#include "sotto/optimizer/parts/sampling_option.hpp"
#include "sotto/optimizer/parts/steps.hpp"
#include "sotto/optimizer/parts/tail_average.hpp"
#include "sotto/oracle/api/sensitivity.hpp"

namespace sotto {
namespace {

enum class NoiseRule { kMatched, kAdaptive, kConstant };

struct AdaptiveNoiseOptions {
  std::optional<std::int64_t> steps;
  std::optional<std::int64_t> expected_batch;
  std::optional<double> step_size;
  std::optional<double> clip_radius;
  bool adagrad = false;  ///< b_t grows with the released gradients
  NoiseRule noise = NoiseRule::kMatched;
  ClipRule clip_rule = ClipRule::kFlat;
  Sampling::Kind sampling = Sampling::Kind::kPoisson;
  double offset = 20;
  double slope = 1;
  double beta = 1;
  std::int64_t beta_period = 0;  ///< 0: beta_t = beta
  double nu = 1e-5;
  std::int64_t groups = 20;
  double average = 0;
  std::optional<double> first_multiplier;  ///< adaptive noise only
};

class AdaptiveNoiseSgd final : public Optimizer {
 public:
  AdaptiveNoiseSgd(AdaptiveNoiseOptions options, Sampling sampling)
      : options_(std::move(options)), sampling_(sampling) {}

  double b(std::int64_t t) const {
    return std::sqrt(options_.offset + options_.slope * static_cast<double>(t));
  }

  /// Weight of the squared gradient; falls to 1 within every period where there is one.
  double beta(std::int64_t t) const {
    if (options_.beta_period == 0) return options_.beta;
    return std::max(options_.beta / static_cast<double>(t % options_.beta_period + 1), 1.0);
  }

  /// alpha of the schedule relative to b(0), constant within a group of steps: that of its middle.
  double alpha(std::int64_t t) const {
    if (options_.noise == NoiseRule::kConstant) return 1;
    const std::int64_t T = *options_.steps;
    const std::int64_t groups = std::min(options_.groups, T);
    const std::int64_t group = t * groups / T;
    return std::sqrt(b((2 * group + 1) * T / (2 * groups)) / b(0));
  }

  Plan plan(const PublicProblem& problem, double noise_multiplier) const override {
    const std::int64_t T = *options_.steps;
    const std::int64_t samples = T * problem.dimension;
    if (options_.noise == NoiseRule::kAdaptive) return {Event::compose({}), samples, "rdp"};
    const Vector anywhere;
    Event event = Event::compose({});
    for (std::int64_t t = 0, next; t < T; t = next) {
      for (next = t + 1; next < T && alpha(next) == alpha(t);) ++next;
      const Event stage = event_of(query(anywhere, noise_multiplier * alpha(t)), problem.relation);
      event = Event::compose({event, Event::repeat(next - t, stage)});
    }
    return {std::move(event), samples};
  }

  Expected<OptimizerResult> run(Oracle& oracle,
                                double noise_multiplier,
                                Observer& observer) const override {
    const PublicProblem& problem = oracle.problem();
    const Regularizer& r = problem.regularizer;
    const bool adaptive = options_.noise == NoiseRule::kAdaptive;
    const auto d = static_cast<double>(problem.dimension);
    const double expected_batch = sampling_.rate * static_cast<double>(problem.n);
    TailAverage average(options_.average, *options_.steps);
    Vector w = problem.first_iterate();
    Vector gradient;
    double square = options_.offset;  // b²
    Steps steps(observer, *options_.steps);
    SOTTO_TRY(steps.begin([&](Archive& state) {
      state("iterate", w)("square", square, 0, kInfinity)("average", average);
    }));
    while (steps.next()) {
      const std::int64_t t = steps.made();
      const double z =
          adaptive ? *options_.first_multiplier * stage(std::pow(square / options_.offset, 0.25))
                   : noise_multiplier * alpha(t);
      SOTTO_ASSIGN(const auto answer, steps.unless_spent(oracle.gradient(query(w, z))));
      if (!answer) break;
      gradient = answer->value();
      if (options_.adagrad) {
        const TermBounds bounds = bounds_of(query(w, z), problem);
        const double s = z * bounds.sensitivity(problem.relation, sampling_) / expected_batch;
        square += std::max(beta(t) * (gradient.squaredNorm() - d * s * s), options_.nu);
      } else {
        square = options_.offset + options_.slope * static_cast<double>(t + 1);
      }
      const double eta = *options_.step_size / std::sqrt(square);
      r.add_gradient(w, gradient);
      w -= eta * gradient;
      r.prox(eta, w);
      average.add(w);
      steps.finish(eta, gradient.norm(), &w);
    }
    return steps.result(average.value());
  }

 private:
  GradientQuery query(const Vector& at, double z) const {
    return {at, sampling_, *options_.clip_radius, z, options_.clip_rule};
  }
  /// Adaptive noise moves in steps of 2 %, so that most releases cost the filter no new
  /// computation.
  static double stage(double alpha) {
    return std::pow(1.02, std::ceil(std::log(alpha) / std::log(1.02) - 1e-9));
  }

  AdaptiveNoiseOptions options_;
  Sampling sampling_;
};

OptionTable<AdaptiveNoiseOptions> adp_sgd_options() {
  using O = AdaptiveNoiseOptions;
  OptionTable<O> table;
  table.integer("steps", &O::steps, "number of steps T")
      .range(1, kMostSteps)
      .integer("expected_batch", &O::expected_batch, "expected number of units per batch")
      .number("step_size", &O::step_size, "eta; the step is eta / b_t")
      .positive()
      .number("clip_radius", &O::clip_radius, "per-unit gradients are clipped to this L2 norm C")
      .positive()
      .choice("step_rule",
              &O::adagrad,
              {{false, "polynomial"}, {true, "adagrad"}},
              "how b_t grows: sqrt(offset + slope t), or with the released gradients")
      .choice("noise",
              &O::noise,
              {{NoiseRule::kMatched, "matched"},
               {NoiseRule::kAdaptive, "adaptive"},
               {NoiseRule::kConstant, "constant"}},
              "alpha_t^2 follows the polynomial schedule, or b_t during the run under a filter, or "
              "is constant (dp-sgd)")
      .number("offset", &O::offset, "b^2 at the start")
      .positive()
      .number("slope", &O::slope, "by how much b^2 grows per step")
      .range(0, below(kInfinity))
      .number("beta", &O::beta, "adagrad: weight of the squared gradient")
      .positive()
      .integer("beta_period",
               &O::beta_period,
               "adagrad: beta_t = max{beta / ((t mod period) + 1), 1}; 0: beta_t = beta")
      .at_least(0)
      .number("nu", &O::nu, "adagrad: the least growth of b^2 per step")
      .positive()
      .integer("groups", &O::groups, "matched noise: how many different noise levels, at most")
      .range(1, 1000)
      .number("average",
              &O::average,
              "share of last iterates that are averaged; 0 returns the last one")
      .range(0, 1)
      .number("first_multiplier",
              &O::first_multiplier,
              "adaptive noise: the multiplier of the first step")
      .positive();
  add_sampling_option(table);
  add_clip_rule_option(table);
  return table;
}

/// The share of the budget that the polynomial schedule would use if its noise began with z.
double price_of_schedule(const AdaptiveNoiseOptions& options,
                         const PublicFacts& facts,
                         const Sampling& sampling,
                         double z) {
  // Stages that grow with t, each at the price of its first step: the first steps have the least
  // noise, and a multiplier a little smaller may cost far more.
  constexpr int kStages = 16;
  const auto begin = [&](int k) {
    return std::pow(static_cast<double>(*options.steps) + 1, static_cast<double>(k) / kStages) - 1;
  };
  double price = 0;
  for (int k = 0; k < kStages; ++k) {
    const double alpha = std::pow(1 + options.slope * begin(k) / options.offset, 0.25);
    price += facts.sampled_price(sampling, z * alpha) * (begin(k + 1) - begin(k));
  }
  return price;
}

/// What the polynomial schedule would need, and a fifth more for the filter; a run that needs more
/// ends early, one that needs less leaves some budget.
double first_multiplier(const AdaptiveNoiseOptions& options,
                        const PublicFacts& facts,
                        const Sampling& sampling) {
  const double q = sampling.rate;
  if (q < 1 && facts.sampled_price) {
    double z = 0.5;
    while (price_of_schedule(options, facts, sampling, z) > 1 && z < 1e6) z *= 1.1;
    return 1.2 * z;
  }
  double cost = 0;  // by first-order composition, which is exact without sampling
  for (std::int64_t t = 1; t <= *options.steps; ++t)
    cost += 1 / std::sqrt(1 + options.slope * static_cast<double>(t) / options.offset);
  return 1.2 * std::max(0.5, facts.single_release_multiplier * q * std::sqrt(cost));
}

Expected<ConfiguredMethod> configure_adp_sgd(const GivenOptions& given, const PublicFacts& facts) {
  const auto table = adp_sgd_options();
  SOTTO_ASSIGN(const AdaptiveNoiseOptions asked, table.parse(given));
  const PublicProblem& problem = facts.problem;
  SOTTO_TRY(check(asked.sampling, problem));
  SOTTO_TRY(check(asked.clip_rule, problem));
  SOTTO_TRY(check_batch("expected_batch", asked.expected_batch, problem));
  AdaptiveNoiseOptions options = asked;
  const auto n = static_cast<double>(problem.n);
  if (!options.clip_radius) options.clip_radius = default_clip_radius(problem);
  const auto [L, h] = horizon_of(facts, *options.clip_radius);
  if (!options.expected_batch)
    options.expected_batch = std::min<std::int64_t>(
        problem.n, std::max<std::int64_t>(256, std::llround(8 * std::sqrt(n))));
  if (!options.steps) options.steps = std::clamp<std::int64_t>(std::llround(2 * h * L), 50, 4000);
  // The steps of the polynomial schedule add up to the horizon, none above 1/L.
  double sum = 0;
  for (std::int64_t t = 1; t <= *options.steps; ++t)
    sum += 1 / std::sqrt(options.offset + options.slope * static_cast<double>(t));
  if (!options.step_size)
    options.step_size = std::min(h / sum, std::sqrt(options.offset + options.slope) / L);
  const Sampling sampling = sampling_of(options.sampling, *options.expected_batch, problem.n);
  if (options.noise == NoiseRule::kAdaptive && !options.first_multiplier)
    options.first_multiplier = first_multiplier(options, facts, sampling);
  return ConfiguredMethod{std::make_unique<AdaptiveNoiseSgd>(options, sampling),
                          table.settings(asked, options, given)};
}

}  // namespace

std::vector<MethodInfo> adp_sgd_methods() {
  return {{.name = "adp-sgd",
           .summary = "random batches, noise matched to falling steps",
           .needs = {Capability::kGradients},
           .guarantees = "(epsilon, delta)-DP",
           .is_private = true,
           .source = "[ADP21]",
           .page = "adp-sgd",
           .options = adp_sgd_options().infos(),
           .configure = configure_adp_sgd}};
}

}  // namespace sotto
