#pragma once

#include <cstdint>
#include <utility>

#include "sotto/core/passkey.hpp"
#include "sotto/privacy/event.hpp"

namespace sotto {

class Ledger;

/// Proof that one event has been paid for. Only the ledger makes receipts; each buys one release
/// and is used up by it.
class Receipt {
 public:
  Receipt(Passkey<Ledger>, Event event, std::int64_t samples)
      : event_(std::move(event)), samples_(samples) {}
  Receipt(Receipt&&) = default;
  Receipt& operator=(Receipt&&) = default;
  Receipt(const Receipt&) = delete;
  Receipt& operator=(const Receipt&) = delete;

  const Event& event() const { return event_; }
  /// How many noise samples were declared (their distance from the ideal law is part of delta).
  std::int64_t samples() const { return samples_; }

 private:
  Event event_;
  std::int64_t samples_;
};

}  // namespace sotto
