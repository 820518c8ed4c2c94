#pragma once

namespace sotto {

/// Whether code for x86-64-v3 (AVX2, FMA, BMI2 …) runs on this processor. Where kernels were
/// compiled for it as well as for the baseline, SOTTO_HAS_X86_64_V3 is defined
/// (cmake/SottoModule.cmake).
bool runs_x86_64_v3();

/// The i-th form of a set of kernels that runs here, from the slowest; null after the last. `v3`:
/// null where there is none.
template <class Kernels>
const Kernels* kernel_variant(int i, const Kernels& baseline, const Kernels* v3) {
  if (i == 0) return &baseline;
  return i == 1 && runs_x86_64_v3() ? v3 : nullptr;
}

}  // namespace sotto
