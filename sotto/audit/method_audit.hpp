#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sotto/audit/audit.hpp"
#include "sotto/audit/claim.hpp"
#include "sotto/audit/judge.hpp"
#include "sotto/audit/known_price.hpp"
#include "sotto/audit/worlds.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/ledger.hpp"
#include "sotto/training/train.hpp"

namespace sotto {

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
  Expected<double> try_run(int world, std::int64_t run) const;

  MethodAuditOptions options_;
  std::unique_ptr<Worlds> worlds_;
  TrainOptions train_;
  PreparedRun prepared_;
  std::unique_ptr<KnownPrice> price_;
  std::unique_ptr<Claim> claim_;
};

}  // namespace sotto
