#include "sotto/optimizer/second_order/backtracking.hpp"

#include <cmath>

namespace sotto {
namespace {

double cube(double x) { return x * x * x; }

template <class Decrease>
Backtracking falling(double fallback, double longest, double beta, const Decrease& decrease) {
  Backtracking search{fallback, {}, {}};
  for (double gamma = longest * fallback; gamma > fallback; gamma *= beta) {
    search.lengths.push_back(gamma);
    search.needed.push_back(decrease(gamma));
  }
  return search;
}

}  // namespace

double curvature_length() {
  const double rest = 1 - kC - kCH;
  return 1.5 * rest + 3 * std::sqrt(rest * rest / 4 - 2 * kC2 / 3);
}

Backtracking along_gradient(double norm, double G, double longest) {
  return falling(2 * (1 - kC1 - kCg) / G, longest, kBetaG, [&](double gamma) {
    return kCg * gamma * norm * norm;
  });
}

Backtracking along_curvature(double lambda, double M, double longest) {
  return falling(curvature_length() * lambda / M, longest, kBetaH, [&](double gamma) {
    return kCH * gamma * gamma * lambda / 2;
  });
}

LeastDecrease short_steps(double eps_g, double eps_H, double G, double M) {
  return {(1 - 2 * kC1) * eps_g * eps_g / (2 * G),
          2 * (1.0 / 3 - kC2 - kC) * cube(eps_H) / (M * M)};
}

LeastDecrease line_searches(double eps_g, double eps_H, double G, double M) {
  const double t = curvature_length();
  return {kCg * (1 - kC1 - kCg) * eps_g * eps_g / G, kCH * t * t / 4 * cube(eps_H) / (M * M)};
}

}  // namespace sotto
