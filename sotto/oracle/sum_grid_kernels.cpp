#include "sotto/oracle/sum_grid_kernels.hpp"

#include "sotto/core/lane_integers.hpp"

namespace sotto::internal::SOTTO_KERNEL_ARCH {
namespace {

#ifdef __AVX2__
constexpr std::size_t kLanes = 4;
#else
constexpr std::size_t kLanes = 2;
#endif
typedef double Real __attribute__((vector_size(8 * kLanes)));
typedef long long Integer __attribute__((vector_size(8 * kLanes)));

constexpr double kMost = 0x1p61;

inline Integer on_grid(Real value, double scale) {
  Real x = value * scale;
  x = x > kMost ? Real{} + kMost : x;
  x = x < -kMost ? Real{} - kMost : x;
  x = x == x ? x : Real{};
  return nearest_integer<Real, Integer>(x);
}

template <class Vector, class Number>
inline Vector load(const Number* p) {
  Vector v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

/// The last, incomplete group of `count` numbers goes through a whole one beside it.
template <class Vector, class Number>
inline Vector load_some(const Number* p, std::size_t count) {
  Vector v{};
  __builtin_memcpy(&v, p, count * sizeof *p);
  return v;
}

}  // namespace

void to_sum_grid(
    double* values, double scale, std::size_t count, bool first, std::int64_t* totals) {
  std::size_t j = 0;
  for (; j + kLanes <= count; j += kLanes) {
    Integer steps = on_grid(load<Real>(values + j), scale);
    if (!first) steps += load<Integer>(totals + j);
    constexpr Real kZero{};
    __builtin_memcpy(values + j, &kZero, sizeof kZero);
    __builtin_memcpy(totals + j, &steps, sizeof steps);
  }
  if (j == count) return;
  Integer steps = on_grid(load_some<Real>(values + j, count - j), scale);
  if (!first) steps += load_some<Integer>(totals + j, count - j);
  __builtin_memcpy(totals + j, &steps, (count - j) * sizeof *totals);
  for (; j < count; ++j) values[j] = 0;
}

void from_sum_grid(const std::int64_t* const* totals,
                   std::size_t parts,
                   double step,
                   std::size_t count,
                   double* out) {
  std::size_t j = 0;
  for (; j + kLanes <= count; j += kLanes) {
    Integer total{};
    for (std::size_t part = 0; part < parts; ++part) total += load<Integer>(totals[part] + j);
    const Real result = to_double<Real, Integer>(total) * step;
    __builtin_memcpy(out + j, &result, sizeof result);
  }
  if (j == count) return;
  Integer total{};
  for (std::size_t part = 0; part < parts; ++part)
    total += load_some<Integer>(totals[part] + j, count - j);
  const Real result = to_double<Real, Integer>(total) * step;
  __builtin_memcpy(out + j, &result, (count - j) * sizeof *out);
}

}  // namespace sotto::internal::SOTTO_KERNEL_ARCH
