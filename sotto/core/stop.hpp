#pragma once

#include "sotto/core/error.hpp"

namespace sotto {

/// Whether somebody wants the program to end: set by a signal's handler, asked between steps, and
/// wherever a call was interrupted by the signal.
bool stop_requested() noexcept;
/// Safe in a signal's handler.
void request_stop() noexcept;
/// For tests that run commands one after the other.
void forget_stop() noexcept;

/// What a function says that ends early because of it.
tl::unexpected<Error> stopped_early();

}  // namespace sotto
