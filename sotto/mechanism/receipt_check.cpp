#include "sotto/mechanism/receipt_check.hpp"

#include <algorithm>

#include "sotto/core/check.hpp"

namespace sotto::internal {

void check_receipt(const Receipt& receipt, const Event& event, std::int64_t samples) {
  const Expected<CanonicalEvent> bought = canonical(receipt.event());
  const Expected<CanonicalEvent> needed = canonical(event);
  SOTTO_CHECK(bought && needed);
  SOTTO_CHECK(bought->relation == needed->relation);
  SOTTO_CHECK(std::equal(bought->terms.begin(),
                         bought->terms.end(),
                         needed->terms.begin(),
                         needed->terms.end(),
                         [before = TermOrder()](const Term& a, const Term& b) {
                           return !before(a, b) && !before(b, a) && a.count == b.count;
                         }));
  SOTTO_CHECK(receipt.samples() >= samples);
}

}  // namespace sotto::internal
