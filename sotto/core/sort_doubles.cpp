#include "sotto/core/sort_doubles.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>

namespace sotto {
namespace {

constexpr std::size_t kBytes = sizeof(std::uint64_t);
constexpr std::uint64_t kSign = std::uint64_t{1} << 63U;

/// Integers that are ordered as the doubles are.
std::uint64_t ordered(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);  // -0 becomes 0
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}
double value_of(std::uint64_t bits) {
  return std::bit_cast<double>((bits & kSign) != 0 ? bits & ~kSign : ~bits);
}

std::size_t byte_of(std::uint64_t bits, std::size_t byte) { return bits >> (8 * byte) & 0xff; }

}  // namespace

void sort_doubles(std::vector<double>& values) {
  std::vector<std::uint64_t> from(values.size()), to(values.size());
  std::array<std::array<std::size_t, 256>, kBytes> counts{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    from[i] = ordered(values[i]);
    for (std::size_t byte = 0; byte < kBytes; ++byte) ++counts[byte][byte_of(from[i], byte)];
  }
  for (std::size_t byte = 0; byte < kBytes; ++byte) {
    auto& places = counts[byte];
    if (std::ranges::find(places, values.size()) != places.end()) continue;  // all have the same
    std::size_t place = 0;
    for (std::size_t& each : places) place += std::exchange(each, place);
    for (const std::uint64_t bits : from) to[places[byte_of(bits, byte)]++] = bits;
    std::swap(from, to);
  }
  std::ranges::transform(from, values.begin(), value_of);
}

}  // namespace sotto
