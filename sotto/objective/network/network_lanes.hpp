#pragma once

// The vectors of the network kernels. Only for files that are compiled once a processor level
// (sotto_kernels): everything here has internal linkage.

#ifdef __AVX__
#include <immintrin.h>
#endif

namespace sotto::network_kernels::SOTTO_KERNEL_ARCH {
namespace {

// Compiler vectors as wide as a register: AVX, else SSE2 or NEON.
#ifdef __AVX__
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif
constexpr int kDoubles = kLanes / 2;
typedef float Real __attribute__((vector_size(4 * kLanes)));
typedef int Mask __attribute__((vector_size(4 * kLanes)));
typedef double Wide __attribute__((vector_size(8 * kDoubles)));
typedef long long WideMask __attribute__((vector_size(8 * kDoubles)));

inline Real load(const float* p) {
  Real v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}

inline void store(float* p, Real v) { __builtin_memcpy(p, &v, sizeof(v)); }

inline Wide load(const double* p) {
  Wide v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}

inline void store(double* p, Wide v) { __builtin_memcpy(p, &v, sizeof(v)); }

inline Real splat(float a) {
#ifdef __AVX__
  return Real{a, a, a, a, a, a, a, a};
#else
  return Real{a, a, a, a};
#endif
}

inline Wide splat(double a) {
#ifdef __AVX__
  return Wide{a, a, a, a};
#else
  return Wide{a, a};
#endif
}

/// kDoubles floats as doubles.
inline Wide widen(const float* p) {
#ifdef __AVX__
  return _mm256_cvtps_pd(_mm_loadu_ps(p));
#else
  return Wide{static_cast<double>(p[0]), static_cast<double>(p[1])};
#endif
}

/// The difference of kDoubles floats, rounded to floats, as doubles.
inline Wide widened_difference(const float* a, const float* b) {
#ifdef __AVX__
  return _mm256_cvtps_pd(_mm_sub_ps(_mm_loadu_ps(a), _mm_loadu_ps(b)));
#else
  return Wide{static_cast<double>(a[0] - b[0]), static_cast<double>(a[1] - b[1])};
#endif
}

// The standard's mode forbids the compiler to fuse by itself.
inline Real multiply_add(Real a, Real b, Real c) {
#ifdef __FMA__
  return _mm256_fmadd_ps(a, b, c);
#else
  return c + a * b;
#endif
}

inline Wide multiply_add(Wide a, Wide b, Wide c) {
#ifdef __FMA__
  return _mm256_fmadd_pd(a, b, c);
#else
  return c + a * b;
#endif
}

inline double total(Wide a) {
  double sum = 0;
  for (int i = 0; i < kDoubles; ++i) sum += a[i];
  return sum;
}

}  // namespace
}  // namespace sotto::network_kernels::SOTTO_KERNEL_ARCH
