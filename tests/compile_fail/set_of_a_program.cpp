// An oracle shows a constraint set sums over private rows: no program can bring one along.
#include "sotto/geometry/constraint_set.hpp"

#ifdef LEAK
class Eavesdropper final : public sotto::ConstraintSet {
 public:
  Eavesdropper() : ConstraintSet(sotto::Passkey<sotto::BuiltInSet>()) {}
};
#endif

sotto::ConstraintPtr set() { return sotto::l1_ball(1); }
