#pragma once

#include "sotto/release/sensitivity_claim.hpp"

namespace sotto {

/// Claims about values that come from no data: the worlds that audits of mechanisms make up, and
/// tests. Nothing that reads rows includes this header (tests/core/include_graph_test.cpp).
class MadeUpClaim {
 public:
  static SensitivityClaim of(double sensitivity,
                             Relation relation = Relation::kZeroOut,
                             const Sampling& sampling = {}) {
    return {sensitivity, relation, sampling};
  }
  static ProductBounds products(double error, double length) { return {error, length}; }
};

}  // namespace sotto
