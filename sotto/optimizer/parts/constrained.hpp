#pragma once

// What the methods with constraint sets share: options, theory's defaults, the start, and the
// certificate at the end. Everything here is a function of public facts and released values.

#include <cstdint>
#include <optional>
#include <string>

#include "sotto/core/error.hpp"
#include "sotto/core/vector.hpp"
#include "sotto/optimizer/optimizer.hpp"
#include "sotto/optimizer/option_table.hpp"
#include "sotto/optimizer/registry.hpp"

namespace sotto {

/// The quantities that theory's step sizes and numbers of steps are made of.
struct TheoryFacts {
  double n = 0;
  double d = 0;
  double initial_gap = 0;    ///< h: how far the objective can fall from the start
  double smoothness = 0;     ///< L in the Euclidean norm
  double smoothness_l1 = 0;  ///< L in the l1 norm
  double clip = 0;           ///< default Euclidean clip radius
  double clip_max = 0;       ///< default clip radius of entries
  double noise = 0;  ///< noise multiplier of one release with the whole budget, times how often one
                     ///< unit's clip radius fits the sensitivity (1, or 2 under replace-one)
};
TheoryFacts theory_facts(const PublicFacts& facts);

struct CertificateOptions {
  double certificate_share = 0;
  double certificate_confidence = 0.95;
};
template <class Options>
void add_certificate_options(OptionTable<Options>& table) {
  table
      .number("certificate_share",
              &Options::certificate_share,
              "share of the budget for a noisy Frank-Wolfe gap of the final model; 0: none")
      .range(0, below(1))
      .number("certificate_confidence",
              &Options::certificate_confidence,
              "confidence of the gap's interval")
      .range(above(0.5), below(1));
}
/// Refuses a certificate where no gap can be certified.
Expected<void> check(const CertificateOptions& options, const PublicProblem& problem);

/// The certificate at the end of a run whose other releases cost as much as one Gaussian release
/// with `total_multiplier`. The gap is the objective's own: gradients are clipped at a bound that
/// the loss has on rows as they are declared, not at the radius of the run's steps.
class GapCertifier {
 public:
  explicit GapCertifier(const CertificateOptions& options) : options_(options) {}

  std::optional<Event> event(double total_multiplier, const PublicProblem& problem) const;
  std::int64_t noise_samples() const { return options_.certificate_share > 0 ? 1 : 0; }
  /// The result with its certificate, if one is wanted; without, where the budget is gone, which
  /// only a run that had to repeat steps can meet, or one that was interrupted to be resumed.
  Expected<OptimizerResult> certified(OptimizerResult result,
                                      Oracle& oracle,
                                      double total_multiplier) const;

 private:
  double multiplier(double total_multiplier) const;

  CertificateOptions options_;
};

/// The multiplier of one release that costs as much as `steps` of them.
double total_multiplier(double noise_multiplier, std::int64_t steps);

/// kAuto: zero if it lies in the set, else the center. kRandom: N(0, I), then the set's nearest
/// point.
enum class Start { kAuto, kZero, kCenter, kRandom };
inline constexpr Named<Start> kStarts[] = {{Start::kAuto, "auto"},
                                           {Start::kZero, "zero"},
                                           {Start::kCenter, "center"},
                                           {Start::kRandom, "random"}};
/// What a random start follows from: the run's public coin.
std::uint64_t start_seed(double coin);
/// Fails (kUsage) if it lies outside, or the set does not fit the dimension.
Expected<Vector> start_point(Start start, std::uint64_t seed, const PublicProblem& problem);

/// Refuses a method on an unbounded set, or none.
Expected<void> require_bounded(const PublicProblem& problem, const std::string& method);

}  // namespace sotto
