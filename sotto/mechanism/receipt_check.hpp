#pragma once

#include <cstdint>

#include "sotto/privacy/event.hpp"
#include "sotto/privacy/receipt.hpp"

namespace sotto::internal {

/// Throws std::logic_error unless the receipt was bought for exactly this event (compared in
/// canonical form) and for at least so many noise samples. Mechanisms call it before they draw
/// noise or let anything out.
void check_receipt(const Receipt& receipt, const Event& event, std::int64_t samples);

}  // namespace sotto::internal
