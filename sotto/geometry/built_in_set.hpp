#pragma once

#include "sotto/geometry/constraint_set.hpp"

namespace sotto {

/// What the sets of balls.cpp and polytope.cpp derive from. Not installed.
class BuiltInSet : public ConstraintSet {
 protected:
  BuiltInSet() : ConstraintSet(Passkey<BuiltInSet>()) {}
};

}  // namespace sotto
