#include "sotto/mechanism/release_tap.hpp"

#include <utility>

#include "sotto/mechanism/grid.hpp"

namespace sotto {
namespace {

ReleaseTap* listener = nullptr;

}  // namespace

ReleaseTap* listen_to_releases(ReleaseTap* tap) { return std::exchange(listener, tap); }

namespace internal {

void tell_opened(const std::type_info& type, void* value, const SensitivityClaim& claim) {
  if (listener) listener->opened(type, value, claim);
}

void tell_grid(double sensitivity, double reach, double rounding, double unit) {
  if (listener) listener->grid(sensitivity, reach, rounding, unit);
}

void tell_released(const std::type_info& type, void* value, const Event& event) {
  if (listener) listener->released(type, value, event);
}

}  // namespace internal
}  // namespace sotto
