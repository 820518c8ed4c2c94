#include "sotto/core/processor.hpp"
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
#ifdef SOTTO_HAS_X86_64_V3
  return kernel_variant(i, baseline::kKernels, &x86_64_v3::kKernels);
#else
  return kernel_variant<Kernels>(i, baseline::kKernels, nullptr);
#endif
}

const Kernels& fastest() {
  const Kernels* best = variant(0);
  for (int i = 1; variant(i); ++i) best = variant(i);
  return *best;
}

}  // namespace sotto::network_kernels
