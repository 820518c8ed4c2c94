#include "sotto/mechanism/receipt_check.hpp"

#include <algorithm>

#include "sotto/core/check.hpp"

namespace sotto::internal {
namespace {

bool same(const Term& a, const Term& b) {
  return a.sampling == b.sampling && a.rate == b.rate && a.batch == b.batch &&
         a.population == b.population && a.mechanism == b.mechanism && a.parameter == b.parameter &&
         a.count == b.count;
}

}  // namespace

void check_receipt(const Receipt& receipt, const Event& event, std::int64_t samples) {
  const Expected<CanonicalEvent> bought = canonical(receipt.event());
  const Expected<CanonicalEvent> needed = canonical(event);
  SOTTO_CHECK(bought && needed);
  SOTTO_CHECK(bought->relation == needed->relation);
  SOTTO_CHECK(std::equal(bought->terms.begin(),
                         bought->terms.end(),
                         needed->terms.begin(),
                         needed->terms.end(),
                         same));
  SOTTO_CHECK(receipt.samples() >= samples);
}

}  // namespace sotto::internal
