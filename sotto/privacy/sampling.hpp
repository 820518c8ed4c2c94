#pragma once

#include <cstdint>
#include <string>

#include "sotto/privacy/event.hpp"

namespace sotto {

/// How a batch is drawn. Each kind has its own amplification theorem; the sampler that really runs
/// and the event that is charged are both made from this one value.
struct Sampling {
  enum class Kind { kFull, kPoisson, kFixedSize };
  Kind kind = Kind::kFull;
  double rate = 1;              ///< Poisson: each unit's probability of being in the batch
  std::int64_t batch = 0;       ///< fixed size: units per batch
  std::int64_t population = 0;  ///< fixed size: units in all

  static Sampling full() { return {}; }
  static Sampling poisson(double rate) { return {Kind::kPoisson, rate, 0, 0}; }
  static Sampling fixed_size(std::int64_t batch, std::int64_t population) {
    return {Kind::kFixedSize,
            static_cast<double>(batch) / static_cast<double>(population),
            batch,
            population};
  }

  bool operator==(const Sampling&) const = default;

  /// `inner` on a batch drawn this way.
  Event applied_to(Event inner) const;
};

/// `full`, `poisson(0.01)`, `fixed_size(256, 60000)`.
std::string to_string(const Sampling& sampling);

}  // namespace sotto
