#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "sotto/audit/claim.hpp"
#include "sotto/audit/judge.hpp"
#include "sotto/audit/known_price.hpp"
#include "sotto/audit/worlds.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/ledger.hpp"
#include "sotto/training/train.hpp"

namespace sotto {

/// What the attacker sees: every released value, or only the trained model.
enum class View { kAll, kFinal };
Expected<View> parse_view(std::string_view text);
std::string_view to_string(View view);

struct MethodAuditOptions {
  std::string method = "dp-gd";
  /// The method's own options. Those left open are set for a strong attack where the method has
  /// them: 20 steps, a tenth of the records a batch, clip radii that the canary always reaches,
  /// constant small steps without momentum.
  GivenOptions options;
  double epsilon = 1;
  double delta = 1e-5;
  Relation relation = Relation::kZeroOut;
  std::optional<AuditedNetwork> network;  ///< none: a linear model
  Canary canary = Canary::kDirection;
  View view = View::kAll;
  double confidence = 0.95;
  std::uint64_t seed = 1;  ///< all data are made up, so nothing is lost by a known seed
};

enum class Verdict { kConsistent, kContradicts, kNotEnoughPower };
/// `consistent`, `contradicts the claim`, `not enough power`.
std::string_view to_string(Verdict verdict);

struct AuditReport {
  Judgement judgement;
  Verdict verdict = Verdict::kConsistent;
  std::int64_t runs = 0;         ///< a world
  std::int64_t runs_needed = 0;  ///< a world, to find an excess of kDetectable with kPower
  std::string curve;
};

/// The audit promises to find a method that is this much less private than it claims ...
inline constexpr double kDetectable = 1.3;
/// ... with this probability, if the attack is the best one.
inline constexpr double kPower = 0.9;

/// The verdict on scores: the claim is contradicted if the lower bound exceeds it, which happens to
/// a correct mechanism with probability at most 1 - confidence.
Expected<AuditReport> report(const Scores& scores, const Claim& claim, const JudgeOptions& options);

/// End-to-end audit of a registered method: real plan, calibration, ledger, oracle, mechanism and
/// optimizer, on two neighbouring data sets of 200 x 10 (for a network, 40 of its inputs). Runs
/// differ by their randomness alone.
class MethodAudit {
 public:
  /// Plans and calibrates once. Fails as `prepare` does, and for methods that claim nothing.
  static Expected<MethodAudit> prepare(const MethodAuditOptions& options);

  /// One run; thread-safe. NaN if the run failed.
  double run(int world, std::int64_t run) const;
  Trial trial() const {
    return [this](int world, std::int64_t number) { return run(world, number); };
  }
  const Claim& claim() const { return *claim_; }
  const PreparedRun& prepared() const { return prepared_; }
  JudgeOptions judge_options() const { return {options_.confidence, 0.1}; }

 private:
  MethodAudit() = default;
  Expected<Ledger> open() const;
  Expected<double> try_run(int world, std::int64_t run) const;

  MethodAuditOptions options_;
  std::unique_ptr<Worlds> worlds_;
  PreparedRun prepared_;
  std::unique_ptr<KnownPrice> price_;
  std::unique_ptr<Claim> claim_;
};

}  // namespace sotto
