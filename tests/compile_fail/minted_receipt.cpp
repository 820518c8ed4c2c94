// Only the ledger makes receipts.
#include "sotto/privacy/ledger.hpp"

sotto::Expected<sotto::Receipt> mint(sotto::Ledger& ledger, const sotto::Event& event) {
#ifdef LEAK
  (void)ledger;
  return sotto::Receipt(sotto::Passkey<sotto::Ledger>{}, event, 0);
#else
  return ledger.charge(event, 0);
#endif
}
