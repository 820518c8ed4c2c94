#pragma once

// Methods that are broken on purpose, each the twin of a correct one with a mistake seen in papers
// or in public code. Every case states its two worlds and the epsilon that it really has.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "sotto/audit/claim.hpp"
#include "sotto/audit/judge.hpp"
#include "sotto/privacy/accountant/gaussian.hpp"
#include "sotto/privacy/accountant/pld.hpp"
#include "sotto/random/stream.hpp"

namespace sotto::testing::zoo {

inline constexpr double kEpsilon = 1;
inline constexpr double kDelta = 1e-5;
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// One run of a broken method: its randomness decides everything.
class Dice {
 public:
  Dice(int world, std::int64_t run)
      : stream_(
            Stream::seeded(77,
                           Purpose::kData,
                           2 * static_cast<std::uint64_t>(run) + static_cast<unsigned>(world))) {}

  double uniform() { return stream_.uniform(); }
  bool chance(double p) { return uniform() < p; }
  double exponential() { return -std::log(uniform()); }
  double normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    const double radius = std::sqrt(-2 * std::log(uniform()));
    const double angle = 2 * M_PI * uniform();
    spare_ = radius * std::sin(angle);
    has_spare_ = true;
    return radius * std::cos(angle);
  }
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(stream_.below(static_cast<std::uint64_t>(bound)));
  }
  std::int64_t binomial(std::int64_t n, double p) {
    std::int64_t hits = 0;
    for (std::int64_t i = 0; i < n; ++i) hits += chance(p);
    return hits;
  }

 private:
  Stream stream_;
  bool has_spare_ = false;
  double spare_ = 0;
};

struct Case {
  std::string name;
  std::string worlds;  ///< what differs between world 0 and world 1
  double claimed = 0;
  double real = 0;  ///< computed, not measured
  std::int64_t runs = 0;
  std::shared_ptr<const Claim> claim;
  std::function<double(int world, Dice& dice)> score;

  Trial trial() const {
    return [this](int world, std::int64_t run) {
      Dice dice(world, run);
      return score(world, dice);
    };
  }
};

inline Expected<Judgement> judged(const Case& attacked, const JudgeOptions& options) {
  Scores scores;
  collect(attacked.trial(), attacked.runs, scores);
  return judge(scores, *attacked.claim, options);
}

/// What is really spent is `factor` times the claim, and the attack refutes the claim.
inline Judgement expect_caught(const Case& broken, double factor, const JudgeOptions& options) {
  EXPECT_GT(broken.real, factor * broken.claimed) << broken.name;
  const auto result = judged(broken, options);
  EXPECT_TRUE(result) << broken.name << ": " << result.error().message;
  if (!result) return {};
  EXPECT_GT(result->lower_bound, broken.claimed) << broken.name << "; " << broken.worlds;
  return *result;
}

/// A law on the line: a mixture of normals with one standard deviation.
struct Mixture {
  struct Part {
    double weight;
    double mean;
  };
  std::vector<Part> parts;
  double deviation = 1;

  double density(double x) const {
    double sum = 0;
    for (const auto& [weight, mean] : parts) {
      const double t = (x - mean) / deviation;
      sum += weight * std::exp(-t * t / 2);
    }
    return sum / (deviation * std::sqrt(2 * M_PI));
  }
};

/// The exact epsilon at `delta` of a release with law p in one world and q in the other: the larger
/// of the two directions, delta(epsilon) = integral of (p - e^epsilon q)+ by Simpson's rule.
inline double epsilon_of(const Mixture& p, const Mixture& q, double delta) {
  double low = kInfinity;
  double high = -kInfinity;
  for (const auto* law : {&p, &q})
    for (const auto& part : law->parts) {
      low = std::min(low, part.mean - 12 * law->deviation);
      high = std::max(high, part.mean + 12 * law->deviation);
    }
  constexpr int kPanels = 20000;
  std::vector<double> ps, qs;
  for (int i = 0; i <= kPanels; ++i) {
    const double x = low + (high - low) * i / kPanels;
    ps.push_back(p.density(x));
    qs.push_back(q.density(x));
  }
  const auto delta_at = [&](const std::vector<double>& a, const std::vector<double>& b, double e) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double weight = i == 0 || i + 1 == a.size() ? 1 : (i % 2 == 1 ? 4 : 2);
      sum += weight * std::max(0.0, a[i] - std::exp(e) * b[i]);
    }
    return sum * (high - low) / (3 * kPanels);
  };
  double least = 0;
  double most = 60;
  for (int i = 0; i < 60; ++i) {
    const double middle = (least + most) / 2;
    const bool meets = delta_at(ps, qs, middle) <= delta && delta_at(qs, ps, middle) <= delta;
    (meets ? most : least) = middle;
  }
  return most;
}

inline double log_ratio(const Mixture& p, const Mixture& q, double x) {
  return std::log(p.density(x) / q.density(x));
}

/// mu of T full-batch releases that together are claimed to be (1, 1e-5)-DP.
inline double claimed_mu() { return gaussian_largest_mu(kEpsilon, kDelta); }
inline double gaussian_real(double factor) {
  return gaussian_epsilon(claimed_mu() * factor, kDelta).value;
}

/// A claim of (1, 1e-5) for `steps` Poisson-sampled releases, and the noise that it asks for.
struct PoissonClaim {
  double noise = 0;
  std::shared_ptr<const Claim> claim;
};
inline PoissonClaim poisson_claim(std::int64_t steps, double rate) {
  const EventFamily family = [=](double z) {
    return Event::repeat(steps, Event::poisson(rate, Event::gaussian(z, Relation::kZeroOut)));
  };
  PoissonClaim result;
  result.noise = calibrate_noise(family, {kEpsilon, kDelta}).value();
  result.claim = event_claim(kEpsilon, kDelta, family, result.noise).value();
  return result;
}
inline double poisson_real(std::int64_t steps, double rate, double noise) {
  const Event event =
      Event::repeat(steps, Event::poisson(rate, Event::gaussian(noise, Relation::kZeroOut)));
  return pld_accountant().epsilon(canonical(event).value(), kDelta)->lower;
}

}  // namespace sotto::testing::zoo
