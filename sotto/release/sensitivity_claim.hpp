#pragma once

#include "sotto/privacy/neighbours.hpp"
#include "sotto/privacy/sampling.hpp"

namespace sotto {

/// How far one unit can move a value, and how the rows behind it were drawn.
///
/// The friends are the complete list of who can claim: Claims (oracle/claims), from public facts
/// and a query alone; the audit of mechanisms, whose worlds are made up; and tests. Noise and its
/// grid follow from a claim, so that a claim which followed the rows would tell them.
class SensitivityClaim {
 public:
  /// In the mechanism's norm, under relation(), rounding errors included.
  double sensitivity() const { return sensitivity_; }
  Relation relation() const { return relation_; }
  const Sampling& sampling() const { return sampling_; }

 private:
  friend class Claims;
  friend class MadeUpClaim;
  SensitivityClaim(double sensitivity, Relation relation, const Sampling& sampling)
      : sensitivity_(sensitivity), relation_(relation), sampling_(sampling) {}

  double sensitivity_;
  Relation relation_;
  Sampling sampling_;
};

/// What a product with a sum of matrices that is never formed adds to its claim: how far a computed
/// product may be from the true one, and how long it may be, for any data set.
class ProductBounds {
 public:
  double error() const { return error_; }
  double length() const { return length_; }

 private:
  friend class Claims;
  friend class MadeUpClaim;
  ProductBounds(double error, double length) : error_(error), length_(length) {}

  double error_;
  double length_;
};

}  // namespace sotto
