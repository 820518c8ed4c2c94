#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/vector.hpp"
#include "sotto/data/table.hpp"
#include "sotto/objective/engine.hpp"
#include "sotto/oracle/api/public_problem.hpp"

namespace sotto {

/// The record that an attacker looks for.
enum class Canary {
  /// Alone in its feature and as long as a row may be: the largest gradient along one fixed
  /// direction, which no other record touches (highest leverage).
  kDirection,
  /// The mean record with the wrong label: the others push its margin down, its gradient up.
  kLabelFlip,
  /// The same entry in every feature, among records that cancel each other: nothing but noise and
  /// the canary decides which coordinates are chosen.
  kSpread,
};
std::string_view to_string(Canary canary);
Expected<Canary> parse_canary(std::string_view text);

/// Two neighbouring data sets, made up and small: the same records but for the last one, which in
/// world 1 is the canary and in world 0 a record without any effect (zero-out), missing
/// (add-remove), or the canary with the opposite label (replace-one).
class Worlds {
 public:
  Worlds(Relation relation, Canary canary, std::int64_t n = 200, std::int64_t dimension = 10);

  const PublicProblem& problem() const { return problem_; }
  /// The model must stay in this set: for methods that need one.
  void constrain(ConstraintPtr set) { problem_.constraint = std::move(set); }
  const Engine& engine(int world) const { return *engines_[world]; }
  /// What the attacker knows: the other records, and what the last one would be in each world.
  const Engine& others() const { return *others_; }
  const Engine& last(int world) const { return *lasts_[world]; }
  /// The direction in which the canary pulls the model, of norm 1.
  const Vector& pull() const { return pull_; }

 private:
  const Engine* add(Table table);

  PublicProblem problem_;
  std::vector<std::unique_ptr<Table>> tables_;
  std::vector<std::unique_ptr<Engine>> owned_;
  const Engine* engines_[2] = {};
  const Engine* others_ = nullptr;
  const Engine* lasts_[2] = {};
  Vector pull_;
};

}  // namespace sotto
