#include "sotto/objective/network/network_kernels.hpp"

namespace sotto::network_kernels {

namespace baseline {
extern const Kernels kKernels;
}

#ifdef SOTTO_HAS_X86_64_V3
namespace x86_64_v3 {
extern const Kernels kKernels;
}
#endif

const Kernels* variant(int i) {
  if (i == 0) return &baseline::kKernels;
#ifdef SOTTO_HAS_X86_64_V3
  if (i == 1 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2"))
    return &x86_64_v3::kKernels;
#endif
  return nullptr;
}

const Kernels& fastest() {
  const Kernels* best = variant(0);
  for (int i = 1; variant(i); ++i) best = variant(i);
  return *best;
}

}  // namespace sotto::network_kernels
