#include "sotto/privacy/accountant/pld_laws.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sotto/privacy/accountant/gaussian.hpp"
#include "sotto/privacy/accountant/kinds.hpp"
#include "sotto/privacy/accountant/pld_grid.hpp"

namespace sotto::pld {
namespace {

// Below these, squares and products leave the range of doubles. More loss, or a larger rate, only
// costs; in a lower bound such a term is left out.
constexpr double kSmallestStrength = 1e-100;
constexpr double kSmallestRate = 1e-100;
// Beyond it lattices take seconds.
constexpr std::int64_t kMostReleases = 3'000'000'000;
// Beyond it, too: kinds that are alike are then composed as one.
constexpr std::size_t kMostKinds = 64;
// Losses so large mean nothing to anybody; their lattices are the slowest, and few kinds do.
constexpr double kLargeLoss = 1e4;
constexpr std::size_t kMostLargeKinds = 12;

bool is_tiny(const Term& term) {
  return strength(term) < kSmallestStrength || term.rate < kSmallestRate;
}

Term rounded_up(Term term) {
  if (strength(term) < kSmallestStrength)
    term.parameter = adds_noise(term) ? 1 / kSmallestStrength : kSmallestStrength;
  term.rate = std::max(term.rate, kSmallestRate);
  return term;
}

// The order of a term's deviation, for is_negligible only.
double weight(const Term& term) {
  return term.rate * strength(term) * std::sqrt(static_cast<double>(term.count));
}

double largest_weight(const std::vector<Term>& terms) {
  double largest = 0;
  for (const Term& term : terms) largest = std::max(largest, weight(term));
  return largest;
}

// Whether lower bounds are better without the term: its losses are far closer to each other than
// the points of a lattice for the others (`largest`: their largest weight), on which nothing can be
// contracted.
bool is_negligible(const Term& term, double largest) {
  const double all = weight(term) * std::sqrt(static_cast<double>(term.count));
  return is_tiny(term) || all < 1e-6 * largest;
}

/// About the mean loss of all releases together.
double size_of_loss(const std::vector<Term>& terms) {
  double sum = 0;
  for (const Term& term : terms) {
    const double square = strength(term) * strength(term);
    sum += static_cast<double>(term.count) *
           std::min(term.rate * term.rate * std::expm1(square), term.rate * square);
  }
  return sum;
}

std::size_t most_kinds(const std::vector<Term>& terms) {
  return size_of_loss(terms) > kLargeLoss ? kMostLargeKinds : kMostKinds;
}

Expected<Way> way_of(const std::vector<Term>& all, Relation relation, Direction direction) {
  Way way;
  const std::size_t most = most_kinds(all);
  const std::vector<Term> terms = few_kinds(all, most, KindsFrom::kAbove);
  way.is_merged = terms.size() < all.size();
  way.is_attained = !way.is_merged;
  const std::vector<Term> below = way.is_merged ? few_kinds(all, most, KindsFrom::kBelow) : terms;
  CanonicalEvent full{relation, {}};  // full-batch Gaussians are one Gaussian
  const bool one_release = terms.size() == 1 && terms.front().count == 1;
  const double largest = largest_weight(terms);
  const double largest_below = largest_weight(below);
  for (const Term& term : terms) {
    SOTTO_ASSIGN(LossLaw law, loss_law(rounded_up(term), relation, direction));
    if (is_full_gaussian(term)) {
      full.terms.push_back(term);
    } else {
      way.upper.push_back({std::move(law), term.count});
    }
    // The best selection depends on epsilon: none attains the whole curve.
    const bool selects = term.mechanism == Term::Mechanism::kExponential && !one_release;
    way.is_attained &=
        !is_negligible(term, largest) && !selects && term.sampling != Term::Sampling::kFixedSize;
  }
  const double mu = gaussian_mu(full);
  const auto add_gaussian = [&](std::vector<CountedLaw>& list) {
    list.push_back({LossLaw::gaussian(std::max(mu, kSmallestStrength)), 1});
  };
  if (mu > 0) add_gaussian(way.upper);
  for (std::size_t i = 0; i < (way.is_merged ? 1 : kAttainedLaws) && !way.is_attained; ++i) {
    std::vector<CountedLaw> list;
    for (const Term& term : below) {
      if (is_negligible(term, largest_below) || (is_full_gaussian(term))) continue;
      list.push_back({attained_law(term, relation, direction, i), term.count});
    }
    if (mu >= kSmallestStrength) add_gaussian(list);
    if (!list.empty()) way.attained.push_back(std::move(list));
  }
  return way;
}

}  // namespace

Expected<Laws> laws_of(const CanonicalEvent& event) {
  Laws laws;
  bool two_ways = false;
  std::vector<Term> terms;
  for (const Term& term : event.terms) {
    if (term.count == 0 || (term.sampling != Term::Sampling::kFull && term.rate == 0)) continue;
    const bool is_private =
        term.mechanism != Term::Mechanism::kNonPrivate && std::isfinite(strength(term));
    laws.is_private &= is_private;
    if (!is_private || strength(term) == 0) continue;
    two_ways |= !is_full(term) && event.relation != Relation::kReplaceOne;
    terms.push_back(term);
  }
  for (const Direction direction : {Direction::kRemove, Direction::kAdd}) {
    if (direction == Direction::kAdd && !two_ways) break;
    SOTTO_ASSIGN(Way way, way_of(terms, event.relation, direction));
    for (const CountedLaw& counted : way.upper)
      laws.fit_lattice &= counted.law.fits_lattice() && counted.count <= kMostReleases;
    laws.are_merged |= way.is_merged;
    if (!way.upper.empty()) laws.ways.push_back(std::move(way));
  }
  return laws;
}

}  // namespace sotto::pld
