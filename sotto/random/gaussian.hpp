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
/// depends on out.size() only. Consumes 48 bytes of the stream a sample, in groups of 16 samples;
/// the result is the same on every processor.
void sample_rounded_gaussian(Stream& stream, std::span<std::int64_t> out);

/// Replaces every value by (k + K) unit: k is the value in steps of `unit`, rounded to the nearest
/// integer (off by at most 1/2 + 2^-44; +-2^62 beyond that; 0 for NaN), and K a fresh sample of the
/// above. The noise is added as an integer; the time of the rounding is not claimed to be constant.
/// unit in [2^-800, 2^800].
void add_rounded_gaussian(Stream& stream, std::span<double> values, double unit);

}  // namespace sotto
