#include "sotto/random/gumbel_kernels.hpp"

namespace sotto::internal::SOTTO_KERNEL_ARCH {
namespace {

// Eight numbers side by side.
using Real = float __attribute__((vector_size(32)));
using Int = std::int32_t __attribute__((vector_size(32)));

// ln x for normal x > 0, within 4e-6 (1 + |ln x|): x = 2^e m with m in [2/3, 4/3), and a polynomial
// for ln(m) / (m - 1), fitted at Chebyshev points. (Results by reference: without AVX a vector of
// this size has no agreed way of being returned.)
inline void logarithm(const Real& x, Real& result) {
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
  result = __builtin_convertvector(exponent, Real) * 0.693147180559945F + p * r;
}

// ln(-ln(1 - q) / q) on [0, 1/2], within 4e-6.
inline void tail(const Real& q, Real& result) {
  Real p = 0.29864969849586487F * q - 0.08577720075845718F;
  p = p * q + 0.1766386479139328F;
  p = p * q + 0.20172616839408875F;
  p = p * q + 0.5003008842468262F;
  result = p * q - 2.184925051551545e-06F;
}

}  // namespace

void gumbels(const std::uint32_t* words, std::size_t groups, float* values) {
  for (; groups > 0; --groups, words += kGumbelGroup, values += kGumbelGroup) {
    Int word;
    __builtin_memcpy(&word, words, sizeof word);
    // q is the smaller of V and 1 - V, so that small numbers keep all their digits.
    const Int upper = word >> 31;  // all ones where V >= 1/2
    const Real q = (__builtin_convertvector(word ^ upper, Real) + 0.5F) * 0x1p-32F;
    Real log, log_of_log, correction;
    logarithm(q, log);
    const Real minus_log = -log;
    logarithm(minus_log, log_of_log);
    tail(q, correction);
    // -ln(-ln(1 - V)) with q = 1 - V, or with q = V.
    const Real value = upper ? -log_of_log : minus_log - correction;
    __builtin_memcpy(values, &value, sizeof value);
  }
}

}  // namespace sotto::internal::SOTTO_KERNEL_ARCH
