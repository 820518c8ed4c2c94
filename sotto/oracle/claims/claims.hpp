#pragma once

#include <cstdint>
#include <vector>

#include "sotto/oracle/api/public_problem.hpp"
#include "sotto/oracle/api/sensitivity.hpp"
#include "sotto/oracle/api/sum_geometry.hpp"
#include "sotto/oracle/api/vertex_query.hpp"
#include "sotto/release/sensitivity_claim.hpp"

namespace sotto {

/// Every claim of sensitivity, from public facts and a query alone: this folder can include neither
/// data/ nor objective/ (tests/core/include_graph_test.cpp), so that no row, norm, size of an
/// engine's blocks or number of rows can reach a claim, and with it the noise, its grid, or a
/// certificate. Proofs: oracle/*.proof.md.
class Claims {
 public:
  /// The facts must outlive this object.
  explicit Claims(const PublicProblem& facts) : facts_(facts) {}

  SensitivityClaim of(const GradientQuery& query) const;
  SensitivityClaim of(const GradientPairQuery& query) const;
  SensitivityClaim of(const LossQuery& query) const;
  SensitivityClaim of(const SelectionQuery& query) const;
  /// What is added to each candidate's sum: its public part and what every loss is known to be at
  /// least, for n units, less the smallest of these, since a selection sees differences only.
  std::vector<double> public_sums(const SelectionQuery& query) const;
  SensitivityClaim of(const HessianQuery& query) const;
  SensitivityClaim of(const JointQuery& query) const;
  SensitivityClaim of(const HessianOperatorQuery& query) const;
  ProductBounds products_of(const HessianOperatorQuery& query) const;
  SensitivityClaim of(const DecreaseQuery& query) const;
  /// In steps of the sums by coordinate; `as_doubles`: of scores that were converted.
  SensitivityClaim of(const VertexQuery& query, bool as_doubles) const;
  SensitivityClaim of(const ListedVertexQuery& query) const;
  SensitivityClaim of(const GapQuery& query) const;

  /// The most units that Sotto sums over. Under add-remove, where their number is private, rounding
  /// errors are bounded for so many.
  static constexpr std::int64_t kMostUnits = std::int64_t{1} << 31;

 private:
  std::int64_t most_units() const;
  /// Bound on the rounding error of a sum of vectors (L2), or of matrices (Frobenius).
  double rounding(SumKind kind, const Sampling& sampling, double radius) const;
  SensitivityClaim claim(const TermBounds& bounds, const Sampling& sampling, double rounding) const;
  SensitivityClaim of_vectors(const TermBounds& bounds, const Sampling& sampling) const;

  const PublicProblem& facts_;
};

}  // namespace sotto
