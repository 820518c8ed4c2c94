#include "sotto/privacy/filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "sotto/privacy/accountant/gaussian.hpp"
#include "sotto/privacy/accountant/rdp.hpp"
#include "sotto/privacy/accountant/rdp_conversion.hpp"
#include "sotto/privacy/accountant/zcdp.hpp"

namespace sotto {
namespace {

Expected<void> check_target(const Target& target) {
  if (!(target.epsilon > 0 && std::isfinite(target.epsilon) && target.delta > 0 &&
        target.delta < 1)) {
    return fail(ErrorKind::kUsage,
                fmt::format("a filter needs a finite epsilon > 0 and 0 < delta < 1, but got {} and "
                            "{}.",
                            target.epsilon,
                            target.delta));
  }
  return {};
}

tl::unexpected<Error> refusal(std::string_view filter, const Event& event, double remaining) {
  return fail(ErrorKind::kBudget,
              fmt::format("the {} filter refuses {}: it costs more than the {:.4g}% of the budget "
                          "that is left. Nothing was released.",
                          filter,
                          to_string(event),
                          100 * remaining));
}

// A filter on one number that adds up; long double keeps the sum of many steps exact enough.
class AdditiveFilter final : public Filter {
 public:
  using Cost = double (*)(const CanonicalEvent&);

  AdditiveFilter(const Accountant& accountant, Cost cost, double budget)
      : accountant_(accountant), cost_(cost), budget_(budget) {}

  std::string_view name() const override { return accountant_.name(); }

  Expected<void> try_spend(const Event& event) override {
    SOTTO_ASSIGN(const CanonicalEvent form, canonical(event));
    SOTTO_TRY(accountant_.supports(form));
    if (has_non_private(form)) return refusal(name(), event, remaining());
    const long double next = spent_ + static_cast<long double>(cost_(form));
    if (!(next <= static_cast<long double>(budget_))) return refusal(name(), event, remaining());
    spent_ = next;
    return {};
  }

  double spent() const override { return static_cast<double>(spent_) / budget_; }

 private:
  const Accountant& accountant_;
  Cost cost_;
  double budget_;
  long double spent_ = 0;
};

class RdpFilter final : public Filter {
 public:
  RdpFilter(std::vector<double> orders, std::vector<double> budgets)
      : orders_(std::move(orders)), budgets_(std::move(budgets)), spent_(orders_.size(), 0) {}

  std::string_view name() const override { return "rdp"; }

  Expected<void> try_spend(const Event& event) override {
    SOTTO_ASSIGN(const CanonicalEvent form, canonical(event));
    SOTTO_TRY(rdp_accountant().supports(form));
    // Runs repeat the same step; its curve is the expensive part.
    const std::string text = to_string(to_event(form)) + std::string(to_string(form.relation));
    if (text != last_text_) {
      last_curve_ = renyi_curve(form, orders_);
      last_text_ = text;
    }
    std::vector<long double> next = spent_;
    bool fits = false;
    for (std::size_t i = 0; i < next.size(); ++i) {
      next[i] += static_cast<long double>(last_curve_[i]);
      fits = fits || next[i] <= static_cast<long double>(budgets_[i]);
    }
    if (!fits) return refusal(name(), event, remaining());
    spent_ = std::move(next);
    return {};
  }

  double spent() const override {
    double least = 1;
    for (std::size_t i = 0; i < spent_.size(); ++i) {
      least = std::min(least, static_cast<double>(spent_[i]) / budgets_[i]);
    }
    return least;
  }

 private:
  std::vector<double> orders_;
  std::vector<double> budgets_;
  std::vector<long double> spent_;
  std::string last_text_;
  std::vector<double> last_curve_;
};

double mu_squared(const CanonicalEvent& event) {
  const double mu = gaussian_mu(event);
  // What underflows is still not nothing.
  return mu > 0 ? std::max(mu * mu, std::numeric_limits<double>::min()) : 0;
}

double total_rho(const CanonicalEvent& event) {
  double rho = 0;
  for (const Term& term : event.terms) rho += static_cast<double>(term.count) * zcdp_rho(term);
  return rho;
}

// The largest rho whose epsilon at delta is within the target, by bisection on its logarithm.
double largest_rho(const Target& target) {
  double low = -700;
  double high = 0;
  while (zcdp_epsilon(std::exp(high), target.delta) <= target.epsilon) high += 4;
  while (high - low > 1e-13) {
    const double middle = (low + high) / 2;
    (zcdp_epsilon(std::exp(middle), target.delta) <= target.epsilon ? low : high) = middle;
  }
  return std::exp(low);
}

}  // namespace

Expected<std::unique_ptr<Filter>> make_gaussian_filter(const Target& target) {
  SOTTO_TRY(check_target(target));
  const double mu = gaussian_largest_mu(target.epsilon, target.delta);
  return std::make_unique<AdditiveFilter>(gaussian_accountant(), mu_squared, mu * mu);
}

Expected<std::unique_ptr<Filter>> make_zcdp_filter(const Target& target) {
  SOTTO_TRY(check_target(target));
  return std::make_unique<AdditiveFilter>(zcdp_accountant(), total_rho, largest_rho(target));
}

Expected<std::unique_ptr<Filter>> make_rdp_filter(const Target& target,
                                                  std::vector<double> orders) {
  SOTTO_TRY(check_target(target));
  if (orders.empty()) orders = {1.5, 2.5, 4, 7, 12, 20, 35, 60, 120, 300};
  const double share = target.delta / static_cast<double>(orders.size());
  std::vector<double> usable;
  std::vector<double> budgets;
  for (const double order : orders) {
    if (!(order > 1 && std::isfinite(order))) {
      return fail(ErrorKind::kUsage,
                  fmt::format("a Renyi order must be finite and > 1, but is {}.", order));
    }
    // The conversion at this order, solved for the Renyi divergence.
    const double budget = target.epsilon - internal::epsilon_at_order(order - 1, 0, share);
    if (budget <= 0) continue;
    usable.push_back(order);
    budgets.push_back(budget);
  }
  if (usable.empty()) {
    return fail(ErrorKind::kBudget,
                fmt::format("epsilon {} at delta {} is too small for every Renyi order given; the "
                            "largest is {}. Give larger orders.",
                            target.epsilon,
                            target.delta,
                            *std::max_element(orders.begin(), orders.end())));
  }
  return std::make_unique<RdpFilter>(std::move(usable), std::move(budgets));
}

Expected<std::unique_ptr<Filter>> make_filter(std::string_view accountant, const Target& target) {
  if (accountant == "gaussian") return make_gaussian_filter(target);
  if (accountant == "zcdp") return make_zcdp_filter(target);
  if (accountant == "rdp") return make_rdp_filter(target);
  if (accountant == "pld") {
    return fail(
        ErrorKind::kUsage,
        "there is no pld filter: privacy loss distributions compose only for releases that "
        "are fixed in advance, and no theorem covers noise chosen from earlier answers. Use "
        "the filter gaussian, zcdp or rdp, or fix the schedule before the run.");
  }
  return fail(ErrorKind::kUsage,
              fmt::format("unknown filter '{}'. Use gaussian, zcdp or rdp.", accountant));
}

}  // namespace sotto
