#include "sotto/privacy/accountant/kinds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace sotto {
namespace {

// Whether `a` costs more for its rate: of equal roundings, the one with less left over.
bool has_larger_rate(const Term& a, const Term& b) {
  if (a.rate != b.rate || a.sampling != Term::Sampling::kFixedSize) return a.rate > b.rate;
  const auto out = [](const Term& term) {
    return static_cast<double>(term.population - term.batch) / static_cast<double>(term.population);
  };
  return out(a) < out(b);
}

// False, and nothing is changed, where both together are more releases than a count can hold.
bool take_in(Term& one, const Term& term, KindsFrom from) {
  if (term.count > std::numeric_limits<std::int64_t>::max() - one.count) return false;
  const bool above = from == KindsFrom::kAbove;
  one.count += term.count;
  if (above ? strength(term) > strength(one) : strength(term) < strength(one))
    one.parameter = term.parameter;
  if (above ? has_larger_rate(term, one) : has_larger_rate(one, term)) {
    one.rate = term.rate;
    one.batch = term.batch;
    one.population = term.population;
  }
  return true;
}

// Strengths and rates within a factor of e^width are one kind. None if more than `most` are left:
// known early, so that a width which is too small costs little however many terms there are.
std::optional<std::vector<Term>> merged(const std::vector<Term>& terms,
                                        std::size_t most,
                                        KindsFrom from,
                                        double width) {
  std::vector<Term> result;
  std::size_t filled = 0;
  std::map<std::tuple<Term::Mechanism, Term::Sampling, double, double>, Term> cells;
  for (const Term& term : terms) {
    if (is_full_gaussian(term)) {
      result.push_back(term);
      continue;
    }
    const auto cell = [&](double x) { return std::floor(std::log(x) / width); };
    const auto [place, is_new] = cells.try_emplace(
        {term.mechanism, term.sampling, cell(strength(term)), cell(term.rate)}, term);
    if (!is_new && !take_in(place->second, term, from)) {
      // A full cell is a kind of its own and a new one is begun: no release may be lost.
      result.push_back(std::exchange(place->second, term));
      ++filled;
    }
    if (cells.size() + filled > most) return std::nullopt;
  }
  for (const auto& [unused, term] : cells) result.push_back(term);
  return result;
}

}  // namespace

bool adds_noise(const Term& term) {
  return term.mechanism == Term::Mechanism::kGaussian ||
         term.mechanism == Term::Mechanism::kLaplace;
}

double strength(const Term& term) { return adds_noise(term) ? 1 / term.parameter : term.parameter; }

bool is_full(const Term& term) {
  return term.sampling == Term::Sampling::kFull ||
         (term.sampling == Term::Sampling::kPoisson && term.rate == 1);
}

bool is_full_gaussian(const Term& term) {
  return is_full(term) && term.mechanism == Term::Mechanism::kGaussian;
}

std::vector<Term> few_kinds(const std::vector<Term>& terms, std::size_t most, KindsFrom from) {
  const auto kinds = terms.size() - static_cast<std::size_t>(std::count_if(
                                        terms.begin(), terms.end(), is_full_gaussian));
  if (kinds <= most) return terms;
  // At the widest only mechanisms and samplings are told apart, by the signs of two logarithms.
  constexpr double kWidest = 1e4;
  for (double width = 1e-3; width < kWidest; width *= 1.15)
    if (auto few = merged(terms, most, from, width)) return *std::move(few);
  return *merged(terms, terms.size(), from, kWidest);
}

}  // namespace sotto
