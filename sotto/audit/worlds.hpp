#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sotto/audit/audit.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/vector.hpp"
#include "sotto/data/table.hpp"
#include "sotto/objective/engine.hpp"
#include "sotto/objective/network/spec.hpp"
#include "sotto/oracle/api/public_problem.hpp"
#include "sotto/task/family.hpp"

namespace sotto {

/// A network, and the weights of all its layers that it starts with.
struct AuditedNetwork {
  std::string name;  ///< for messages and reports
  NetworkSpec spec;
  Vector weights;
};

/// Two neighbouring data sets, made up and small: the same records but for the last one, which in
/// world 1 is the canary and in world 0 a record without any effect (zero-out), missing
/// (add-remove), or the canary's opposite (replace-one): a linear model's with every feature
/// negated, a network's with another label.
class Worlds {
 public:
  /// For linear models. The canary is of the class with the larger weight.
  Worlds(Relation relation,
         Canary canary,
         std::int64_t n = 200,
         std::int64_t dimension = 10,
         const ClassWeights& weights = {});
  /// For a network, with fewer records: each costs more. Fails for canaries that it has no form of,
  /// and as NetworkEngine::make does.
  static Expected<Worlds> of_network(Relation relation,
                                     Canary canary,
                                     const AuditedNetwork& network,
                                     std::int64_t n = 40);

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
  struct Rows;

  Worlds(std::unique_ptr<const Family> family, std::int64_t n, Relation relation)
      : family_(std::move(family)), problem_(family_->problem(n, relation, /*persons=*/false)) {}
  /// Engines of the others, and of the others with `last[world]`. Without rows `last[0]` stands for
  /// a unit without any effect, which no row of a network would be.
  Expected<void> build(const Rows& others, const Rows (&last)[2]);
  /// The two labels with which an input has the longest gradients at w.
  Expected<std::pair<float, float>> steepest_labels(const Vector& x, const NetworkSpec& spec) const;
  Expected<const Engine*> add(const Rows& rows);

  std::unique_ptr<const Family> family_;
  PublicProblem problem_;
  std::vector<std::unique_ptr<Table>> tables_;
  std::vector<std::unique_ptr<Engine>> owned_;
  const Engine* engines_[2] = {};
  const Engine* others_ = nullptr;
  const Engine* lasts_[2] = {};
  Vector pull_;
};

}  // namespace sotto
