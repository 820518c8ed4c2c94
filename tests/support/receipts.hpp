#pragma once

#include <limits>
#include <stdexcept>
#include <utility>

#include "sotto/privacy/ledger.hpp"

namespace sotto::testing {

/// Sells `count` receipts for the same event from a real ledger with an infinite budget.
class ReceiptBook {
 public:
  ReceiptBook(Event event, std::int64_t samples, std::int64_t count)
      : event_(std::move(event)), samples_(samples), ledger_(open(event_, samples, count)) {}

  Receipt next() {
    Expected<Receipt> receipt = ledger_.charge(event_, samples_);
    if (!receipt) throw std::runtime_error(receipt.error().message);
    return *std::move(receipt);
  }

 private:
  static Ledger open(const Event& event, std::int64_t samples, std::int64_t count) {
    LedgerOptions options;
    options.budget = {std::numeric_limits<double>::infinity(), 1e-6};
    options.plan = Event::repeat(count, event);
    options.planned_samples = samples * count;
    Expected<Ledger> ledger = Ledger::open(std::move(options));
    if (!ledger) throw std::runtime_error(ledger.error().message);
    return *std::move(ledger);
  }

  Event event_;
  std::int64_t samples_;
  Ledger ledger_;
};

inline Receipt test_receipt(Event event, std::int64_t samples) {
  return ReceiptBook(std::move(event), samples, 1).next();
}

}  // namespace sotto::testing
