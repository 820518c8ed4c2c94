#pragma once

// Included by gumbel_kernels.cpp, which is compiled once a processor level: declarations only.

#include <cstddef>
#include <cstdint>

namespace sotto::internal {

inline constexpr std::size_t kGumbelGroup = 8;

/// values = Gumbel variables from uniform words, groups x kGumbelGroup of them (gumbel.hpp).
using GumbelKernel = void (*)(const std::uint32_t* words, std::size_t groups, float* values);

namespace baseline {
void gumbels(const std::uint32_t* words, std::size_t groups, float* values);
}  // namespace baseline
namespace x86_64_v3 {
void gumbels(const std::uint32_t* words, std::size_t groups, float* values);
}  // namespace x86_64_v3

}  // namespace sotto::internal
