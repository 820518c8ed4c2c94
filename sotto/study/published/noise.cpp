#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "sotto/core/numbers.hpp"
#include "sotto/study/published/evaluators.hpp"

namespace sotto::study {

double zcdp_of(double epsilon, double delta) {
  const double log = std::log(1 / delta);
  const double root = std::sqrt(log + epsilon) - std::sqrt(log);
  return root * root;
}

namespace published {
namespace {

double square(double x) { return x * x; }

PublishedNoise only(double multiplier) { return {multiplier, {}, std::nullopt}; }

/// The multiplier by a formula that `sotto account --formula` knows too; 0 if it refuses.
double multiplier_of(std::string_view method,
                     const NoiseFacts& f,
                     const std::function<void(FormulaInputs&)>& adjust = {}) {
  FormulaInputs inputs;
  const double n = f.argument("n", static_cast<double>(f.problem.n));
  inputs.n = std::llround(n);
  inputs.steps = std::llround(f.steps);
  inputs.epsilon = f.epsilon;
  inputs.delta = f.delta;
  inputs.batch =
      std::max<std::int64_t>(1, std::llround(f.batch / static_cast<double>(f.problem.n) * n));
  inputs.relation = f.problem.relation;
  if (adjust) adjust(inputs);
  const auto formula = paper_formula(method, inputs);
  return formula ? formula->noise_multiplier : 0;
}

}  // namespace

// ---- Full-batch gradients ----------------------------------------------------------------------
// The mean's sensitivity is 2G/n under replace-one, so sigma on the mean is multiplier 2G/n.

/// The constant is not printed, and 8 is what its zCDP argument gives.
PublishedNoise wyx17(const NoiseFacts& f) {
  return only(multiplier_of(
      "dp-gd", f, [&](FormulaInputs& inputs) { inputs.constant = f.argument("c", 8); }));
}

/// As printed, with rho² for rho.
PublishedNoise wx19_printed(const NoiseFacts& f) { return only(multiplier_of("dp-pgd", f)); }

/// sigma² = 2 G² T / (n² rho), which follows from its text.
PublishedNoise wx19(const NoiseFacts& f) {
  return only(std::sqrt(f.steps / (2 * zcdp_of(f.epsilon, f.delta))));
}

/// Advanced composition of T Gaussian releases of sqrt(2 ln(1.25/delta')) / epsilon' each.
PublishedNoise advanced(const NoiseFacts& f) {
  double low = 0, high = 10;
  for (int k = 0; k < 200; ++k) {
    const double each = (low + high) / 2;
    const double total =
        std::sqrt(2 * f.steps * std::log(2 / f.delta)) * each + f.steps * each * std::expm1(each);
    (total > f.epsilon ? high : low) = each;
  }
  return only(std::sqrt(2 * std::log(2.5 * f.steps / f.delta)) / low);
}

/// Moments at whole orders up to 64, converted with ln(1/delta) / (order - 1).
PublishedNoise moments_grid(const NoiseFacts& f) {
  double best = kInfinity;
  for (int order = 2; order <= 64; ++order) {
    const double left = f.epsilon - std::log(1 / f.delta) / (order - 1);
    if (left > 0) best = std::min(best, std::sqrt(f.steps * order / (2 * left)));
  }
  return only(best);
}

// ---- Batches -----------------------------------------------------------------------------------

/// sigma² = 32 G² T ln(T/delta) ln(1/delta) / (n² epsilon²) on a single record's gradient.
PublishedNoise zzmw17(const NoiseFacts& f) {
  const auto n = static_cast<double>(f.problem.n);
  return only(std::sqrt(8 * f.steps * std::log(f.steps / f.delta) * std::log(1 / f.delta)) /
              (n * f.epsilon) * f.batch);
}

/// At the beta in (0, 1) that needs least noise.
PublishedNoise wjeg23(const NoiseFacts& f) {
  double least = kInfinity;
  for (int k = 1; k < 1000; ++k)
    least = std::min(least, multiplier_of("dp-srm", f, [&](FormulaInputs& inputs) {
                       inputs.beta = k / 1000.0;
                     }));
  return only(least);
}

/// Its sum(alpha^-2) is T for constant noise. `matched`: alpha_t² = b_t / b_0 with
/// b_t² = offset + slope t.
PublishedNoise adp21(const NoiseFacts& f) {
  double inverse_squares = f.steps;
  if (f.argument("matched", 0) > 0) {
    const double offset = f.argument("offset", 20), slope = f.argument("slope", 1);
    inverse_squares = 0;
    for (double t = 0; t < f.steps; ++t)
      inverse_squares += std::sqrt(offset / (offset + slope * t));
  }
  return only(multiplier_of("adp-sgd", f) * std::sqrt(inverse_squares / f.steps));
}

// ---- Second order ------------------------------------------------------------------------------

namespace {

/// A search's fixed noise at the paper's n, told to search.hpp for the n of the run.
struct SearchNoise {
  double gradient = 0;         ///< standard deviation on the mean over 2G/m, m: n or the batch
  double hessian = 0;          ///< standard deviation of every entry of the mean
  double line_search = 0;      ///< epsilon of a sparse vector session; 0: none
  double releases_a_step = 1;  ///< of gradients
};

/// Frobenius distance of two Hessians' terms, by algebra: what the papers bound by 2 M sqrt(d).
double hessian_reach(const PublicProblem& problem, bool sampled) {
  const double bound = problem.loss.sup_abs_second() * problem.row_norm * problem.row_norm;
  const bool convex = problem.loss.inf_second >= 0;
  return bound * (convex && !sampled ? std::numbers::sqrt2 : 2);
}

/// The multipliers for the run, and what the paper's releases cost at its own n.
PublishedNoise search(const NoiseFacts& f, const SearchNoise& noise) {
  const auto n = static_cast<double>(f.problem.n);
  const double paper_n = f.argument("n", n);
  const double rate = std::min(1.0, f.batch / n);
  const bool sampled = rate < 1;
  const double reach = hessian_reach(f.problem, sampled);
  const double scale = n / paper_n;  // the same absolute noise on a smaller set
  const double hessian = noise.hessian * paper_n * rate / reach;
  // The paper copies an upper triangle of equal variances; noise like the Gaussian orthogonal
  // ensemble has its spectral norm at sqrt(2) times the standard deviation.
  PublishedNoise result;
  result.multiplier = 1;
  const auto number = [](double value) { return fmt::format("{:.17g}", value); };
  result.options = {{"gradient_noise", number(noise.gradient * scale)},
                    {"hessian_noise", number(hessian * scale * std::numbers::sqrt2)}};
  if (noise.line_search > 0)
    result.options.emplace_back("line_search_epsilon", number(noise.line_search / scale));
  const auto T = static_cast<std::int64_t>(f.steps);
  const auto sampled_event = [&](Event event) {
    return sampled ? Event::poisson(rate, std::move(event)) : std::move(event);
  };
  const Relation relation = f.problem.relation;
  const auto all = [&](std::int64_t count, double factor) {
    std::vector<Event> parts;
    parts.push_back(
        Event::repeat(count * static_cast<std::int64_t>(noise.releases_a_step),
                      sampled_event(Event::gaussian(noise.gradient * factor, relation))));
    parts.push_back(
        Event::repeat(count, sampled_event(Event::gaussian(hessian * factor, relation))));
    if (noise.line_search > 0)
      parts.push_back(
          Event::repeat(count, Event::sparse_vector(noise.line_search / factor, relation)));
    return Event::compose(std::move(parts));
  };
  if (f.argument("two_phases", 0) > 0) {
    // The first floor(sqrt T) steps have three quarters of rho, the rest one quarter.
    const double first = std::floor(std::sqrt(f.steps));
    result.releases = Event::compose(
        {all(static_cast<std::int64_t>(first), std::sqrt(first / (3 * f.steps))), all(T, 1)});
  } else {
    result.releases = all(T, 1);
  }
  return result;
}

}  // namespace

/// [GW23]: gradient, Hessian and (with a line search) a sparse vector session share a step's rho
/// equally; sensitivities 2/n and 2 sqrt(d)/n; two phases leave a quarter of rho to the second.
PublishedNoise gw23(const NoiseFacts& f) {
  const bool line_search = f.argument("line_search", 0) > 0;
  double sigma =
      multiplier_of("opt", f, [&](FormulaInputs& inputs) { inputs.line_search = line_search; });
  if (f.argument("two_phases", 0) > 0) sigma *= 2;
  const double n = f.argument("n", static_cast<double>(f.problem.n));
  const double d = static_cast<double>(f.problem.dimension);
  return search(f, {sigma, 2 * std::sqrt(d) / n * sigma, line_search ? 1 / sigma : 0});
}

/// The same paper's public code for batches: rho at its cap of 1, and noise for the mean over n
/// on a mean over b.
PublishedNoise gw23_batches(const NoiseFacts& f) {
  double rho = 1;
  if (f.argument("two_phases", 0) > 0) rho /= 4;
  const double sigma = std::sqrt(f.steps / rho);
  const double n = f.argument("n", static_cast<double>(f.problem.n));
  const double d = static_cast<double>(f.problem.dimension);
  const double rate = f.batch / static_cast<double>(f.problem.n);
  return search(f, {sigma * rate, 2 * std::sqrt(d) / n * sigma, 0});
}

/// sigma_H is sqrt(d) times sigma_g, with G = M = 1.
PublishedNoise wx20_tr(const NoiseFacts& f) {
  const double n = f.argument("n", static_cast<double>(f.problem.n));
  const double d = static_cast<double>(f.problem.dimension);
  const double z = multiplier_of("dp-tr", f);
  return search(f, {z, 2 * std::sqrt(d) / n * z, 0});
}

/// sigma_H² is d T times sigma_g²: the T of the gradient's is missing in print.
PublishedNoise wx20_str(const NoiseFacts& f) {
  const double n = f.argument("n", static_cast<double>(f.problem.n));
  const double d = static_cast<double>(f.problem.dimension);
  const double z = multiplier_of("dp-str", f);
  const double rate = f.batch / static_cast<double>(f.problem.n);
  return search(f, {z, 2 * z / (n * rate) * std::sqrt(d * f.steps), 0});
}

/// Public code of the baseline with selection [WCX19]: every noise constant 1, that is
/// sqrt(T ln(1/delta)) / epsilon sensitivities, for two gradients and a Hessian a step.
PublishedNoise wcx19_code(const NoiseFacts& f) {
  const double n = f.argument("n", static_cast<double>(f.problem.n));
  const double d = static_cast<double>(f.problem.dimension);
  const double z = std::sqrt(f.steps * std::log(1 / f.delta)) / f.epsilon;
  return search(f, {z, 2 * std::sqrt(d) / n * z, 0, 2});
}

/// Public code of [LK18]: 60 splits of rho, step lengths by argmin(loss + Exp), which for k
/// candidates is (k - 1) times the claimed epsilon. The run itself is Sotto's, within the budget.
PublishedNoise lk18_code(const NoiseFacts& f) {
  const double splits = f.argument("splits", 60);
  const double candidates = f.argument("candidates", 21);
  const double rho = zcdp_of(f.epsilon, f.delta);
  const double selection = f.epsilon / (2 * splits);
  const double gradient = rho / splits - square(selection) / 2;
  const auto count = static_cast<std::int64_t>(splits);
  const Relation relation = f.problem.relation;
  PublishedNoise result;
  result.releases = Event::compose(
      {Event::repeat(count, Event::gaussian(1 / std::sqrt(2 * gradient), relation)),
       Event::repeat(count, Event::sparse_vector((candidates - 1) * selection, relation))});
  result.is_run = false;
  return result;
}

}  // namespace published
}  // namespace sotto::study
