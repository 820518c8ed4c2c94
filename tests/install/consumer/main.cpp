// A program that knows Sotto only as an installed package: prices an event and calibrates one.
#include <cmath>
#include <cstdio>

#include "sotto/optimizer/registry.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/calibrate.hpp"

int main() {
  const auto relation = sotto::Relation::kZeroOut;
  const auto z = sotto::calibrate_noise(
      [&](double value) {
        return sotto::Event::repeat(100, sotto::Event::gaussian(value, relation));
      },
      {1.0, 1e-6});
  if (!z) return 1;
  std::printf("noise multiplier %.6f, %zu methods\n", *z, sotto::methods().size());
  // One Gaussian of mu = 0.236704 spends exactly (1, 1e-6) [BW18].
  return std::abs(std::sqrt(100.0) / *z - 0.236704) < 1e-5 ? 0 : 1;
}
