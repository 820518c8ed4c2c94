#include "sotto/optimizer/first_order/recursive_theory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sotto {

double theory_n0(double L, double gap, double G) { return L * gap / (G * G); }

TheoryParameters theorem_parameters(const RecursionFacts& facts) {
  const auto [n, d, epsilon, delta, G, L, gap] = facts;
  const double noise = d * std::log(1 / delta);
  TheoryParameters p;
  p.n0 = theory_n0(L, gap, G);
  p.steps =
      std::pow(n * epsilon * L * gap, 4.0 / 3) / (std::pow(G, 8.0 / 3) * std::pow(noise, 2.0 / 3));
  p.accuracy = std::cbrt(G * L * gap * noise) / std::pow(n * epsilon, 2.0 / 3);
  p.anchor_batch = G * G * G / (p.accuracy * L * gap);
  p.batch = G / (p.n0 * p.accuracy);
  p.mixture = p.accuracy / (p.n0 * G);
  return p;
}

TheoryParameters corollary_parameters(const RecursionFacts& facts) {
  TheoryParameters p = theorem_parameters(facts);
  p.anchor_batch = p.batch = facts.n * std::sqrt(facts.epsilon / p.steps);
  return p;
}

namespace {

/// Whether some beta meets what Theorem 5.1 asks of sigma'^2 and alpha, with its own noise:
/// sigma'^2 = 3.5 T alpha min(b, b_0)^2 / (beta n^2 epsilon).
bool theorem_5_1_applies(const TheoryParameters& p, const RecursionFacts& facts) {
  const double smaller = std::min(p.batch, p.anchor_batch);
  const double tau = std::max(p.batch, p.anchor_batch) / facts.n;
  for (int k = 1; k < 1000; ++k) {
    const double beta = k / 1000.0;
    const double alpha = 1 + std::log(1 / facts.delta) / ((1 - beta) * facts.epsilon);
    const double variance =
        3.5 * p.steps * alpha * smaller * smaller / (beta * facts.n * facts.n * facts.epsilon);
    const double bound = 2 * variance / 3 * std::log(1 / (tau * alpha * (1 + variance)));
    if (variance >= 0.7 && alpha - 1 <= bound) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> unmet(const TheoryParameters& p,
                               const RecursionFacts& facts,
                               bool corollary) {
  std::vector<std::string> conditions;
  const double log_delta = std::log(1 / facts.delta);
  const double least_budget = std::max(
      std::pow(facts.G, 8) * log_delta * log_delta / std::pow(facts.L * facts.gap * facts.d, 4),
      facts.G * facts.G * std::sqrt(facts.d * log_delta) / (facts.L * facts.gap));
  if (facts.n * facts.epsilon < least_budget)
    conditions.push_back(
        fmt::format("n epsilon >= {:.4g} (it is {:.4g})", least_budget, facts.n * facts.epsilon));
  if (p.mixture > 1) conditions.push_back(fmt::format("gamma <= 1 (it is {:.4g})", p.mixture));
  for (const double batch : {p.anchor_batch, p.batch})
    if (batch < 1 || batch > facts.n)
      conditions.push_back(fmt::format("1 <= b <= n (it is {:.4g})", batch));
  if (p.steps < 1) conditions.push_back(fmt::format("T >= 1 (it is {:.4g})", p.steps));
  if (!theorem_5_1_applies(p, facts))
    conditions.push_back("Theorem 5.1's bounds on sigma'^2 and alpha for some beta");
  const double least_steps = std::pow(log_delta, 4) / std::pow(facts.epsilon, 3);
  if (corollary && p.steps < least_steps)
    conditions.push_back(fmt::format(
        "T >= ln(1/delta)^4 / epsilon^3 = {:.4g} (it is {:.4g})", least_steps, p.steps));
  return conditions;
}

}  // namespace sotto
