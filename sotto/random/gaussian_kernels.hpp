#pragma once

// Included by gaussian_kernels.cpp, which is compiled once a processor level: declarations only.

#include <cstddef>
#include <cstdint>

namespace sotto::internal {

/// Samples are made in groups of this many, each from kGaussianWords uniform 64-bit words.
inline constexpr std::size_t kGaussianGroup = 16;
inline constexpr std::size_t kGaussianWords = 6;

/// Turns groups x kGaussianGroup x kGaussianWords uniform words into groups x kGaussianGroup
/// samples.
using GaussianKernel = void (*)(const std::uint64_t* words,
                                std::size_t groups,
                                std::int64_t* samples);

/// Replaces each of `count` values by (nearest_step(value, unit) + its noise) unit.
using GridKernel = void (*)(double* values,
                            const std::int64_t* noise,
                            std::size_t count,
                            double unit);

namespace baseline {
void rounded_gaussian(const std::uint64_t* words, std::size_t groups, std::int64_t* samples);
void add_on_grid(double* values, const std::int64_t* noise, std::size_t count, double unit);
}  // namespace baseline
namespace x86_64_v3 {
void rounded_gaussian(const std::uint64_t* words, std::size_t groups, std::int64_t* samples);
void add_on_grid(double* values, const std::int64_t* noise, std::size_t count, double unit);
}  // namespace x86_64_v3

}  // namespace sotto::internal
