#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "sotto/core/error.hpp"
#include "sotto/optimizer/registry.hpp"
#include "sotto/privacy/neighbours.hpp"

namespace sotto {

struct AuditedNetwork;

/// The record that an attacker looks for.
enum class Canary {
  /// Alone in its feature and as long as a row may be: the largest gradient along one fixed
  /// direction, which no other record touches (highest leverage). For a network: an image far
  /// brighter than the others, with the label that makes its gradient longest.
  kDirection,
  /// The mean record with the wrong label: the others push its margin down, its gradient up. For a
  /// network: another record's image with that label.
  kLabelFlip,
  /// The same entry in every feature, among records that cancel each other: nothing but noise and
  /// the canary decides which coordinates are chosen.
  kSpread,
};
std::string_view to_string(Canary canary);
Expected<Canary> parse_canary(std::string_view text);

/// What the attacker sees: every released value, or only the trained model.
enum class View { kAll, kFinal };
Expected<View> parse_view(std::string_view text);
std::string_view to_string(View view);

struct MethodAuditOptions {
  std::string method = "dp-gd";
  /// Instead of `method`: one that is not in the registry. Outlives the audit.
  const MethodInfo* unlisted = nullptr;
  /// The method's own options. Those left open are set for a strong attack where the method has
  /// them: 20 steps, a tenth of the records per batch, clip radii that the canary always reaches,
  /// constant small steps without momentum.
  GivenOptions options;
  double epsilon = 1;
  double delta = 1e-5;
  Relation relation = Relation::kZeroOut;
  std::shared_ptr<const AuditedNetwork> network;  ///< null: a linear model
  ClassWeights class_weights{};                   ///< of a linear model
  Canary canary = Canary::kDirection;
  View view = View::kAll;
  double confidence = 0.95;
  std::uint64_t seed = 1;  ///< all data are made up, so nothing is lost by a known seed
};

enum class Verdict { kConsistent, kContradicts, kNotEnoughPower };
/// `consistent`, `contradicts the claim`, `not enough power`.
std::string_view to_string(Verdict verdict);

/// What an audit found.
struct AuditOutcome {
  Verdict verdict = Verdict::kConsistent;
  /// By the runs the method's epsilon is at least this, with the confidence that was asked for.
  double lower_bound = 0;
  std::int64_t runs = 0;         ///< per world
  std::int64_t runs_needed = 0;  ///< per world, to find a method that is 1.3 times less private
};

/// Attacks a method's claim on made-up data: `runs` runs in each of two worlds that differ in one
/// record (sotto/audit/method_audit.hpp). A contradiction is found by chance with probability at
/// most 1 - confidence. At least 100 runs; fails as MethodAudit::prepare does.
Expected<AuditOutcome> audit_method(const MethodAuditOptions& options, std::int64_t runs);

}  // namespace sotto
