#include "sotto/privacy/accountant.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sotto/core/nearest.hpp"
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
  std::vector<std::string> known;
  for (const Accountant* accountant : accountants()) {
    if (accountant->name() == name) return accountant;
    known.emplace_back(accountant->name());
  }
  return fail(ErrorKind::kUsage,
              fmt::format("unknown accountant '{}'.{} Use one of: {}.",
                          name,
                          did_you_mean(name, known),
                          fmt::join(known, ", ")));
}

namespace {

/// For many selections or fixed-size batches no data attain the pairs that pld composes, and the
/// Rényi bound can beat them; a typical delta decides.
bool rdp_beats_pld(const CanonicalEvent& event) {
  constexpr double kTypicalDelta = 1e-6;
  const bool has_loose_pair =
      std::any_of(event.terms.begin(), event.terms.end(), [](const Term& term) {
        return term.mechanism == Term::Mechanism::kExponential ||
               (term.sampling == Term::Sampling::kFixedSize && term.count > 1);
      });
  if (!has_loose_pair || !rdp_accountant().supports(event)) return false;
  const auto rdp = rdp_accountant().epsilon_upper(event, kTypicalDelta);
  const auto pld = pld_accountant().epsilon_upper(event, kTypicalDelta);
  return rdp && pld && *rdp < *pld;
}

}  // namespace

Expected<const Accountant*> tightest_accountant(const CanonicalEvent& event) {
  if (gaussian_accountant().supports(event)) return &gaussian_accountant();
  if (pld_accountant().supports(event) && !rdp_beats_pld(event)) return &pld_accountant();
  // The most general accountant's reason, where even it refuses.
  SOTTO_TRY(rdp_accountant().supports(event));
  return &rdp_accountant();
}

}  // namespace sotto
