#pragma once

// Many kinds of releases as few: what keeps the price of an event with thousands of different terms
// a matter of milliseconds. Internal to the accountants.

#include <cstddef>
#include <vector>

#include "sotto/privacy/event.hpp"

namespace sotto {

/// Gaussian and Laplace: the parameter is a noise multiplier.
bool adds_noise(const Term& term);
/// What grows with the loss: 1 / noise multiplier, or epsilon.
double strength(const Term& term);
/// On every record.
bool is_full(const Term& term);
bool is_full_gaussian(const Term& term);

enum class KindsFrom { kAbove, kBelow };

/// The terms as at most `most` kinds beside full-batch Gaussians, which every accountant adds up at
/// no cost. Terms of one mechanism and sampling whose strengths and rates are near each other
/// become one: from above that of the largest strength and rate, which dominates each of them, from
/// below that of the smallest (pld.proof.md, lemma 8; rdp.proof.md). No more than `most` are left
/// as they are.
std::vector<Term> few_kinds(const std::vector<Term>& terms, std::size_t most, KindsFrom from);

}  // namespace sotto
