#include "sotto/geometry/constrained_prox.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "sotto/core/check.hpp"

namespace sotto {
namespace {

using Kind = RegularizerKind;

/// Whether projecting after the prox is the minimizer; the class comment has the reasons.
bool composes(const ConstraintSet& set, const Regularizer& r) {
  if (r.smooth() || set.kind() == SetKind::kL2Ball) return true;
  if (r.kind() == Kind::kGroupL1) {
    // A bias outside the groups would be in a group of the set.
    return set.kind() == SetKind::kGroupBall && r.regularized() == Regularizer::kAll &&
           set.to_string().ends_with(fmt::format(",{}", r.group_size()));
  }
  return set.kind() != SetKind::kPolytope;
}

}  // namespace

ConstrainedProx::ConstrainedProx(ConstraintPtr set, const Regularizer& regularizer)
    : set_(std::move(set)), regularizer_(regularizer) {}

Expected<ConstrainedProx> ConstrainedProx::make(ConstraintPtr set, const Regularizer& regularizer) {
  if (set && !composes(*set, regularizer)) {
    const std::string why =
        set->kind() == SetKind::kPolytope
            ? "a general polytope mixes coordinates that the regularizer treats one by one"
            : "the set's boundary and the groups' norms are not thresholded by the same rule";
    return fail(
        ErrorKind::kUsage,
        fmt::format("no exact step is known for the regularizer {} on the set {}: {}, so that "
                    "projecting after the regularizer's step does not give the minimizer. Use "
                    "one of them alone, a smooth regularizer, or an l2 ball.",
                    regularizer.to_string(),
                    set->to_string(),
                    why));
  }
  return ConstrainedProx(std::move(set), regularizer);
}

void ConstrainedProx::apply(double step, Vector& w) const {
  if (set_ && set_->kind() == SetKind::kSimplex && !regularizer_.smooth()) {
    // Linear where all weights are positive: thresholding would stop at 0 too early.
    w.head(std::min<std::int64_t>(regularizer_.regularized(), w.size())).array() -=
        step * regularizer_.lambda();
    set_->project(w);
    return;
  }
  regularizer_.prox(step, w);
  if (set_) set_->project(w);
}

Vector ConstrainedProx::projected_gradient(const Vector& w,
                                           const Vector& gradient,
                                           double step) const {
  SOTTO_CHECK(step > 0);
  Vector next = w - step * gradient;
  apply(step, next);
  return (w - next) / step;
}

}  // namespace sotto
