#include "sotto/core/processor.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace sotto {

#if defined(__x86_64__)
namespace {

// Feature by feature: clang 14 does not know the level by its name, nor three of its members.
bool has_all_of_v3() {
  unsigned a = 0, b = 0, basic = 0, extended = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &basic, &d) == 0) return false;
  if (__get_cpuid(0x80000001, &a, &b, &extended, &d) == 0) return false;
  constexpr unsigned kMovbe = 1U << 22, kF16c = 1U << 29, kLzcnt = 1U << 5;
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi") != 0 &&
         __builtin_cpu_supports("bmi2") != 0 && __builtin_cpu_supports("fma") != 0 &&
         (basic & kMovbe) != 0 && (basic & kF16c) != 0 && (extended & kLzcnt) != 0;
}

}  // namespace

bool runs_x86_64_v3() {
  static const bool runs = has_all_of_v3();
  return runs;
}
#else
bool runs_x86_64_v3() { return false; }
#endif

}  // namespace sotto
