#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/privacy/calibrate.hpp"
#include "sotto/privacy/event.hpp"

namespace sotto {

/// A privacy filter: lets releases be chosen adaptively - their noise, sampling and number may
/// depend on earlier answers - and still guarantees (epsilon, delta)-DP of the whole run, because
/// it refuses whatever would overrun the budget. Accountants of fixed events do not give that
/// guarantee. What a filter says it spent is no smaller guarantee of its own: only the whole budget
/// is certified.
class Filter {
 public:
  virtual ~Filter() = default;

  /// `gaussian`, `zcdp` or `rdp`.
  virtual std::string_view name() const = 0;

  /// Pays for the event, or refuses with a budget error and changes nothing. Also refuses what the
  /// filter's accountant does not support.
  virtual Expected<void> try_spend(const Event& event) = 0;

  /// The share of the budget that is used up, in [0, 1], and the rest.
  virtual double spent() const = 0;
  double remaining() const { return 1 - spent(); }
};

/// Full-batch Gaussian releases while sum mu_t^2 <= mu(epsilon, delta)^2. Loses nothing against the
/// exact accountant [ST22, KTH23].
Expected<std::unique_ptr<Filter>> make_gaussian_filter(const Target& target);

/// Full-batch releases while sum rho_t <= rho(epsilon, delta) [FZ21, WRRW23]: the bound holds at
/// all orders at once, so the best conversion applies.
Expected<std::unique_ptr<Filter>> make_zcdp_filter(const Target& target);

/// Anything the Renyi accountant supports, at `orders` (> 1) fixed before the run: goes on while
/// some order's budget holds [FZ21, Lec21]; delta is split evenly over the orders, which pays for
/// not knowing in advance which order ends the run (proof: filter.proof.md). One order loses
/// nothing to that. Empty: a default grid of ten orders. A budget error if no order has any budget.
Expected<std::unique_ptr<Filter>> make_rdp_filter(const Target& target,
                                                  std::vector<double> orders = {});

/// By the accountant's name. `pld` is refused: no filter for adaptively chosen privacy loss
/// distributions is known.
Expected<std::unique_ptr<Filter>> make_filter(std::string_view accountant, const Target& target);

}  // namespace sotto
