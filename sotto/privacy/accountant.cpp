#include "sotto/privacy/accountant.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sotto/privacy/accountant/gaussian.hpp"
#include "sotto/privacy/accountant/pld.hpp"
#include "sotto/privacy/accountant/rdp.hpp"
#include "sotto/privacy/accountant/zcdp.hpp"

namespace sotto {

Expected<double> Accountant::epsilon_upper(const CanonicalEvent& event, double delta) const {
  SOTTO_ASSIGN(const Interval interval, epsilon(event, delta));
  return interval.upper;
}

Expected<void> check_delta(double delta) {
  if (delta >= 0 && delta < 1) return {};
  return fail(ErrorKind::kUsage,
              fmt::format("delta must lie in [0, 1), but is {}. Set it well below 1 / (number of "
                          "records), for example 1e-6.",
                          delta));
}

Expected<void> check_epsilon(double epsilon) {
  if (epsilon >= 0) return {};
  return fail(
      ErrorKind::kUsage,
      fmt::format("epsilon must be a number >= 0, but is {}. Give for example 1.", epsilon));
}

tl::unexpected<Error> refuse(std::string_view accountant,
                             const Term& term,
                             Relation relation,
                             std::string_view reason) {
  return fail(ErrorKind::kUsage,
              fmt::format("the accountant {} can't price {} under {}: {}",
                          accountant,
                          to_string(term),
                          to_string(relation),
                          reason));
}

bool has_non_private(const CanonicalEvent& event) {
  return std::any_of(event.terms.begin(), event.terms.end(), [](const Term& term) {
    return term.mechanism == Term::Mechanism::kNonPrivate;
  });
}

const std::vector<const Accountant*>& accountants() {
  static const std::vector<const Accountant*> all = {
      &gaussian_accountant(), &zcdp_accountant(), &rdp_accountant(), &pld_accountant()};
  return all;
}

Expected<const Accountant*> find_accountant(std::string_view name) {
  std::string known;
  for (const Accountant* accountant : accountants()) {
    if (accountant->name() == name) return accountant;
    if (!known.empty()) known += ", ";
    known += accountant->name();
  }
  return fail(ErrorKind::kUsage,
              fmt::format("unknown accountant '{}'. Use one of: {}.", name, known));
}

Expected<const Accountant*> tightest_accountant(const CanonicalEvent& event) {
  Error last;
  for (const std::string_view name : {"gaussian", "pld", "rdp"}) {
    const auto accountant = find_accountant(name);
    if (!accountant) continue;
    const auto supported = (*accountant)->supports(event);
    if (supported) return *accountant;
    last = supported.error();
  }
  // The most general accountant's reason.
  return tl::unexpected<Error>(last);
}

}  // namespace sotto
