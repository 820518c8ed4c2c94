#pragma once

#include <cstdint>
#include <span>

#include "sotto/random/stream.hpp"

namespace sotto {

/// The rounded Gaussian lives on a grid of 2^-34 standard deviations.
inline constexpr int kGaussianFractionBits = 34;
/// Every sample's law is within this total variation distance of the ideal one, as proved in
/// gaussian.proof.md (the computed bound is smaller).
inline constexpr double kGaussianDistance = 0x1p-60;
/// No sample is larger in absolute value.
inline constexpr std::int64_t kGaussianLargest = std::int64_t{1} << 38;

/// Fills `out` with independent integers distributed as round(2^34 X), X standard normal, up to
/// total variation kGaussianDistance each.
///
/// Constant time as far as the source shows: which instructions run and which addresses are touched
/// depends on out.size() only. Consumes 72 bytes of the stream a sample, in groups of 16 samples;
/// the result is the same on every processor.
void sample_rounded_gaussian(Stream& stream, std::span<std::int64_t> out);

}  // namespace sotto
