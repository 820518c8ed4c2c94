#include "sotto/random/gumbel_kernels.hpp"

namespace sotto::internal::SOTTO_KERNEL_ARCH {
namespace {

// Eight numbers side by side.
using Real = float __attribute__((vector_size(32)));
using Int = std::int32_t __attribute__((vector_size(32)));

// ln x for normal x > 0, within 4e-6 (1 + |ln x|): x = 2^e m with m in [2/3, 4/3), and a polynomial
// for ln(m) / (m - 1), fitted at Chebyshev points.
inline Real logarithm(Real x) {
  Int bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  const Int exponent = (bits - 0x3f2aaaab) >> 23;
  const Int mantissa = bits - (exponent << 23);
  Real m;
  __builtin_memcpy(&m, &mantissa, sizeof m);
  const Real r = m - 1.0F;
  Real p = 0.1711122691631317F * r - 0.19407857954502106F;
  p = p * r + 0.1979503035545349F;
  p = p * r - 0.24841634929180145F;
  p = p * r + 0.3333798944950104F;
  p = p * r - 0.5000224113464355F;
  p = p * r + 0.9999998211860657F;
  return __builtin_convertvector(exponent, Real) * 0.693147180559945F + p * r;
}

// ln(-ln(1 - q) / q) on [0, 1/2], within 4e-6.
inline Real tail(Real q) {
  Real p = 0.29864969849586487F * q - 0.08577720075845718F;
  p = p * q + 0.1766386479139328F;
  p = p * q + 0.20172616839408875F;
  p = p * q + 0.5003008842468262F;
  return p * q - 2.184925051551545e-06F;
}

}  // namespace

void gumbels(const std::uint32_t* words, std::size_t groups, float* values) {
  for (; groups > 0; --groups, words += kGumbelGroup, values += kGumbelGroup) {
    Int word;
    __builtin_memcpy(&word, words, sizeof word);
    // q is the smaller of V and 1 - V, so that small numbers keep all their digits.
    const Int upper = word >> 31;  // all ones where V >= 1/2
    const Real q = (__builtin_convertvector(word ^ upper, Real) + 0.5F) * 0x1p-32F;
    const Real minus_log = -logarithm(q);
    const Real from_above = -logarithm(minus_log);  // -ln(-ln(1 - V)), q = 1 - V
    const Real from_below = minus_log - tail(q);    // the same with q = V
    const Real value = upper ? from_above : from_below;
    __builtin_memcpy(values, &value, sizeof value);
  }
}

}  // namespace sotto::internal::SOTTO_KERNEL_ARCH
