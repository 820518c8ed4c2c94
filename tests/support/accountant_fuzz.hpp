#pragma once

// Random events over the whole range of double, for fast and slow tests.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "sotto/privacy/accountant.hpp"
#include "tests/support/processor_time.hpp"

namespace sotto::testing_support {

class WildEvents {
 public:
  explicit WildEvents(std::uint64_t seed) : random_(seed) {}

  double noise() {
    constexpr double kEdges[] = {5e-324,
                                 1e-310,
                                 1e-300,
                                 1e-25,
                                 1e-10,
                                 1e-4,
                                 1.0 / 300,
                                 0.02,
                                 1e9,
                                 1e15,
                                 1e100,
                                 1e200,
                                 1.7e308};
    return pick(3) == 0 ? kEdges[pick(std::size(kEdges))] : power(pick(2) == 0 ? 308.0 : 4.0);
  }
  double rate() {
    constexpr double kEdges[] = {5e-324, 1e-310, 1e-300, 1e-20, 0.5, 1 - 1e-9, 1 - 0x1p-53, 1.0};
    switch (pick(3)) {
      case 0:
        return kEdges[pick(std::size(kEdges))];
      case 1:
        return std::min(1.0, power(308));
      default:
        return std::uniform_real_distribution<double>(0, 1)(random_);
    }
  }
  std::int64_t count() {
    return static_cast<std::int64_t>(
        std::pow(10.0, std::uniform_real_distribution<double>(0, pick(2) == 0 ? 15 : 4)(random_)));
  }
  double delta() {
    constexpr double kEdges[] = {0, 1e-300, 1e-100, 1e-15, 1e-6, 0.5, 1 - 0x1p-53};
    return pick(2) == 0 ? kEdges[pick(std::size(kEdges))] : std::min(0.9, power(299));
  }
  Event leaf(Relation relation) {
    switch (pick(5)) {
      case 0:
        return Event::laplace(noise(), relation);
      case 1:
        return Event::exponential(1 / noise(), relation);
      case 2:
        return Event::sparse_vector(1 / noise(), relation);
      default:
        return Event::gaussian(noise(), relation);
    }
  }
  Event term(Relation relation) {
    switch (pick(3)) {
      case 0:
        return Event::repeat(count(), leaf(relation));
      case 1:
        return Event::repeat(count(), Event::poisson(rate(), leaf(relation)));
      default: {
        const std::int64_t population = 1 + count();
        const std::int64_t batch = pick(4) == 0 ? population - 1 : 1 + population / (1 + count());
        return Event::repeat(
            count(), Event::fixed_size(std::min(batch, population), population, leaf(relation)));
      }
    }
  }
  Event event() {
    constexpr Relation kRelations[] = {
        Relation::kZeroOut, Relation::kReplaceOne, Relation::kAddRemove};
    const Relation relation = kRelations[pick(3)];
    if (pick(2) == 0) return term(relation);
    return Event::compose({term(relation), term(relation)});
  }

 private:
  std::size_t pick(std::size_t n) { return random_() % n; }
  double power(double digits) {
    return std::pow(10.0, std::uniform_real_distribution<double>(-digits, digits)(random_));
  }
  std::mt19937_64 random_;
};

/// Every accountant answers, refuses or says infinity within two seconds of processor time, and its
/// interval is one.
inline void expect_answers(const Event& event, double delta, double epsilon) {
  constexpr double kLimit = 2;
  const auto form = canonical(event);
  if (!form) return;
  for (const Accountant* accountant : accountants()) {
    if (!accountant->supports(*form)) continue;
    for (const bool asks_epsilon : {true, false}) {
      const std::string what = std::string(accountant->name()) + " on " + to_string(event) +
                               (asks_epsilon ? " at delta " + std::to_string(std::log10(delta))
                                             : " at epsilon " + std::to_string(epsilon));
      const ProcessorTime time;
      const auto found =
          asks_epsilon ? accountant->epsilon(*form, delta) : accountant->delta(*form, epsilon);
      EXPECT_LE(time.seconds(), kLimit) << what;
      if (!found) continue;
      EXPECT_FALSE(std::isnan(found->upper) || std::isnan(found->lower)) << what;
      EXPECT_LE(0, found->lower) << what;
      EXPECT_LE(found->lower, found->upper * (1 + 1e-9)) << what;
      EXPECT_TRUE(asks_epsilon || found->upper <= 1) << what;
    }
  }
}

}  // namespace sotto::testing_support
