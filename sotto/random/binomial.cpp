#include "sotto/random/binomial.hpp"

#include <cmath>
#include <cstdint>

#include "sotto/core/check.hpp"
#include "sotto/random/fraction.hpp"

namespace sotto::internal {
namespace {

// x in [0, 1); exact if x is 0 or at least 2^-75.
Fraction fraction(double x) {
  const double high = std::floor(std::ldexp(x, 64));
  const double low = std::ldexp(std::ldexp(x, 64) - high, 64);
  return (Fraction{static_cast<std::uint64_t>(high)} << 64) | static_cast<std::uint64_t>(low);
}

}  // namespace

std::vector<Fraction> binomial_cdf(int bits, double rate) {
  SOTTO_CHECK(bits >= 4 && bits <= 40);
  SOTTO_CHECK(rate > 0 && rate <= 1.0 / 16 && std::ldexp(rate, bits) <= 8);
  constexpr Fraction kNegligible = Fraction{1} << 10;  // 2^-118

  const Fraction hit = fraction(rate);
  if (hit == 0) return {~Fraction{0}};
  const Fraction miss = 0 - hit;  // 1 - rate, modulo 1
  Fraction mass = miss;           // P(X = k), first (1 - rate)^(2^bits) by squaring
  for (int i = 0; i < bits; ++i) mass = product(mass, mass);
  // A sixteenth of 2^bits rate / (1 - rate), which is below 9.
  const Fraction odds = quotient(fraction(std::ldexp(rate, bits - 4)), miss);

  std::vector<Fraction> cdf;
  Fraction at_most = mass;
  for (Fraction k = 0; (k >> bits) == 0; ++k) {
    cdf.push_back(at_most);
    // P(X = k + 1) = P(X = k) (1 - k / 2^bits) x odds / (k + 1)
    mass = product(mass - (mass >> bits) * k, odds) / (k + 1) * 16;
    if (mass < kNegligible || mass > ~at_most) break;
    at_most += mass;
  }
  return cdf;
}

}  // namespace sotto::internal
