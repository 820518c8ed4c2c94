#include "sotto/core/stop.hpp"

#include <atomic>

namespace sotto {
namespace {

std::atomic<bool> requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal's handler may not wait");

}  // namespace

bool stop_requested() noexcept { return requested.load(std::memory_order_relaxed); }

void request_stop() noexcept { requested.store(true, std::memory_order_relaxed); }

void forget_stop() noexcept { requested.store(false, std::memory_order_relaxed); }

tl::unexpected<Error> stopped_early() {
  return fail(ErrorKind::kInterrupted, "interrupted; nothing was left half-written.");
}

}  // namespace sotto
