#pragma once

#include <cstdint>

#include "sotto/core/error.hpp"
#include "sotto/privacy/event.hpp"

namespace sotto {

/// What the mechanisms' integers can carry: refused with kBudget before anything is charged, since
/// the mechanisms themselves, which come after the charge, can only give up. `values`: how many
/// numbers one release has at most.
Expected<void> check_carried(const CanonicalEvent& releases, std::int64_t values);
/// And the size of what is released: its sensitivity, in whatever unit it has.
Expected<void> check_carried(const Event& release, std::int64_t values, double sensitivity);

}  // namespace sotto
