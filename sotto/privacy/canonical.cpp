// The canonical form of an event (declared in event.hpp).

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "sotto/core/check.hpp"
#include "sotto/privacy/event.hpp"

namespace sotto {
namespace {

// Counts stay exact as doubles.
constexpr std::int64_t kLargestCount = 1'000'000'000'000'000;

// Equal releases share one entry; the map's order is the order of the canonical form.
using Terms = std::map<Term, Term, TermOrder>;

Expected<void> add(Terms& terms, Term term) {
  const auto [place, is_new] = terms.try_emplace(term, term);
  if (is_new) return {};
  if (place->second.count > kLargestCount - term.count) {
    return fail(
        ErrorKind::kUsage,
        fmt::format("the event repeats {} more than {} times.", to_string(term), kLargestCount));
  }
  place->second.count += term.count;
  return {};
}

Term leaf(Term::Mechanism mechanism, double parameter) {
  Term term;
  term.mechanism = mechanism;
  term.parameter = parameter;
  return term;
}

// `cost` is the leaf's natural privacy parameter: 0 releases nothing, infinity protects nothing.
Expected<void> add_leaf(Terms& terms, Term::Mechanism mechanism, double parameter, double cost) {
  if (cost == 0) return {};
  if (std::isinf(cost)) return add(terms, leaf(Term::Mechanism::kNonPrivate, 0));
  return add(terms, leaf(mechanism, parameter));
}

// Several Gaussian releases from one batch are one Gaussian release of the stacked, rescaled
// values.
double merged_multiplier(const Terms& terms) {
  if (terms.size() == 1 && terms.begin()->second.count == 1) {
    return terms.begin()->second.parameter;
  }
  double smallest = std::numeric_limits<double>::infinity();
  for (const auto& [unused, term] : terms) smallest = std::min(smallest, term.parameter);
  double sum = 0;  // of (smallest / z)^2, free of overflow
  for (const auto& [unused, term] : terms) {
    const double ratio = smallest / term.parameter;
    sum += static_cast<double>(term.count) * ratio * ratio;
  }
  return smallest / std::sqrt(sum);
}

// The one release that a batch suffers, from everything that is computed on it.
Expected<Term> single_release(const Terms& inner, std::string_view sampling) {
  const auto all = [&](auto predicate) {
    return std::all_of(
        inner.begin(), inner.end(), [&](const auto& entry) { return predicate(entry.second); });
  };
  const bool non_private = std::any_of(inner.begin(), inner.end(), [](const auto& entry) {
    return entry.second.mechanism == Term::Mechanism::kNonPrivate;
  });
  if (non_private) return leaf(Term::Mechanism::kNonPrivate, 0);
  if (all([](const Term& term) {
        return term.sampling == Term::Sampling::kFull &&
               term.mechanism == Term::Mechanism::kGaussian;
      })) {
    return leaf(Term::Mechanism::kGaussian, merged_multiplier(inner));
  }
  if (inner.size() == 1 && inner.begin()->second.count == 1) return inner.begin()->second;
  std::string parts;
  for (const auto& [unused, term] : inner) {
    if (!parts.empty()) parts += ", ";
    parts += term.count == 1 ? to_string(term)
                             : fmt::format("repeat({}, {})", term.count, to_string(term));
  }
  return fail(ErrorKind::kUsage,
              fmt::format("{} of several releases ({}) has no known dominating pair; only Gaussian "
                          "releases on one batch merge into one. Draw a batch for each release: "
                          "compose({}(..., ...), {}(..., ...)).",
                          sampling,
                          parts,
                          sampling,
                          sampling));
}

// Independent coins multiply. A product that was rounded down would price less than is released:
// near 1 by much, and one that underflows must not become "never".
double product_from_above(double a, double b) {
  const double product = a * b;
  if (product < std::numeric_limits<double>::min()) return std::numeric_limits<double>::min();
  return std::fma(a, b, -product) > 0 ? std::nextafter(product, 1.0) : product;
}

Expected<void> flatten(const Event& event, Relation& relation, Terms& terms);

Expected<void> flatten_poisson(const PoissonEvent& event, Relation& relation, Terms& terms) {
  Terms inner;
  SOTTO_TRY(flatten(*event.inner, relation, inner));
  if (event.rate == 0 || inner.empty()) return {};
  if (event.rate == 1) {
    for (const auto& [unused, term] : inner) SOTTO_TRY(add(terms, term));
    return {};
  }
  SOTTO_ASSIGN(Term term, single_release(inner, "poisson"));
  if (term.mechanism == Term::Mechanism::kNonPrivate) return add(terms, term);
  if (term.sampling == Term::Sampling::kFixedSize) {
    return fail(ErrorKind::kUsage,
                fmt::format("poisson({}, {}): a fixed-size batch of a Poisson batch has no known "
                            "amplification theorem. Sample once.",
                            event.rate,
                            to_string(term)));
  }
  term.sampling = Term::Sampling::kPoisson;
  term.rate = product_from_above(event.rate, term.rate);
  return add(terms, term);
}

Expected<void> flatten_fixed_size(const FixedSizeEvent& event, Relation& relation, Terms& terms) {
  Terms inner;
  SOTTO_TRY(flatten(*event.inner, relation, inner));
  if (event.batch == 0 || inner.empty()) return {};
  // Under add-remove the population is private and "all of it" is no full batch.
  if (event.batch == event.population && relation != Relation::kAddRemove) {
    for (const auto& [unused, term] : inner) SOTTO_TRY(add(terms, term));
    return {};
  }
  SOTTO_ASSIGN(Term term, single_release(inner, "fixed_size"));
  if (term.mechanism == Term::Mechanism::kNonPrivate) return add(terms, term);
  if (term.sampling != Term::Sampling::kFull) {
    return fail(ErrorKind::kUsage,
                fmt::format("fixed_size({}, {}, {}): sampling inside a fixed-size batch has no "
                            "known amplification theorem. Sample once.",
                            event.batch,
                            event.population,
                            to_string(term)));
  }
  term.sampling = Term::Sampling::kFixedSize;
  term.batch = event.batch;
  term.population = event.population;
  term.rate = static_cast<double>(event.batch) / static_cast<double>(event.population);
  return add(terms, term);
}

Expected<void> flatten_repeat(const RepeatEvent& event, Relation& relation, Terms& terms) {
  Terms inner;
  SOTTO_TRY(flatten(*event.inner, relation, inner));
  if (event.count == 0) return {};
  for (auto& [unused, term] : inner) {
    if (term.count > kLargestCount / event.count) {
      return fail(
          ErrorKind::kUsage,
          fmt::format("the event repeats {} more than {} times.", to_string(term), kLargestCount));
    }
    term.count *= event.count;
    SOTTO_TRY(add(terms, term));
  }
  return {};
}

Expected<void> flatten(const Event& event, Relation& relation, Terms& terms) {
  const Event::Node& node = event.node();
  if (const auto* e = std::get_if<GaussianEvent>(&node)) {
    relation = e->relation;
    return add_leaf(
        terms, Term::Mechanism::kGaussian, e->noise_multiplier, 1 / std::abs(e->noise_multiplier));
  }
  if (const auto* e = std::get_if<LaplaceEvent>(&node)) {
    relation = e->relation;
    return add_leaf(
        terms, Term::Mechanism::kLaplace, e->noise_multiplier, 1 / std::abs(e->noise_multiplier));
  }
  if (const auto* e = std::get_if<ExponentialEvent>(&node)) {
    relation = e->relation;
    return add_leaf(terms, Term::Mechanism::kExponential, e->epsilon, e->epsilon);
  }
  if (const auto* e = std::get_if<SparseVectorEvent>(&node)) {
    relation = e->relation;
    return add_leaf(terms, Term::Mechanism::kSparseVector, e->epsilon, e->epsilon);
  }
  if (const auto* e = std::get_if<NonPrivateEvent>(&node)) {
    relation = e->relation;
    return add(terms, leaf(Term::Mechanism::kNonPrivate, 0));
  }
  if (const auto* e = std::get_if<PoissonEvent>(&node)) return flatten_poisson(*e, relation, terms);
  if (const auto* e = std::get_if<FixedSizeEvent>(&node)) {
    return flatten_fixed_size(*e, relation, terms);
  }
  if (const auto* e = std::get_if<RepeatEvent>(&node)) return flatten_repeat(*e, relation, terms);
  for (const Event& part : std::get<ComposeEvent>(node).parts) {
    SOTTO_TRY(flatten(part, relation, terms));
  }
  return {};
}

Event to_event(const Term& term, Relation relation) {
  const auto mechanism = [&] {
    switch (term.mechanism) {
      case Term::Mechanism::kGaussian:
        return Event::gaussian(term.parameter, relation);
      case Term::Mechanism::kLaplace:
        return Event::laplace(term.parameter, relation);
      case Term::Mechanism::kExponential:
        return Event::exponential(term.parameter, relation);
      case Term::Mechanism::kSparseVector:
        return Event::sparse_vector(term.parameter, relation);
      case Term::Mechanism::kNonPrivate:
        break;
    }
    return Event::non_private(relation);
  };
  switch (term.sampling) {
    case Term::Sampling::kPoisson:
      return Event::poisson(term.rate, mechanism());
    case Term::Sampling::kFixedSize:
      return Event::fixed_size(term.batch, term.population, mechanism());
    case Term::Sampling::kFull:
      break;
  }
  return mechanism();
}

}  // namespace

bool TermOrder::operator()(const Term& a, const Term& b) const {
  const auto key = [](const Term& term) {
    return std::tie(
        term.sampling, term.mechanism, term.rate, term.batch, term.population, term.parameter);
  };
  return key(a) < key(b);
}

Expected<CanonicalEvent> canonical(const Event& event) {
  SOTTO_TRY(event.check());
  Terms terms;
  CanonicalEvent result;
  SOTTO_TRY(flatten(event, result.relation, terms));
  result.terms.reserve(terms.size());
  for (auto& [unused, term] : terms) result.terms.push_back(term);
  return result;
}

Event to_event(const CanonicalEvent& canonical) {
  std::vector<Event> parts;
  parts.reserve(canonical.terms.size());
  for (const Term& term : canonical.terms) {
    Event one = to_event(term, canonical.relation);
    parts.push_back(term.count == 1 ? std::move(one) : Event::repeat(term.count, std::move(one)));
  }
  return parts.size() == 1 ? std::move(parts.front()) : Event::compose(std::move(parts));
}

std::string to_string(const Term& term) { return to_string(to_event(term, Relation::kZeroOut)); }

}  // namespace sotto
