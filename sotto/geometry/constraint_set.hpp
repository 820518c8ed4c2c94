#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/passkey.hpp"
#include "sotto/core/vector.hpp"

namespace sotto {

enum class SetKind { kL2Ball, kL1Ball, kSimplex, kBox, kGroupBall, kPolytope };

/// A closed convex set that the weights must stay in; public, free of data. It covers every
/// coordinate, an intercept too.
///
/// All operations are for any dimension that check() accepts. Costs are O(dimension) unless a set
/// says otherwise.
///
/// The sets are those below and no others: an oracle asks a set for its support of a sum over
/// private rows, and takes a sensitivity from its diameter, so that a program's own set could read
/// the one and decide the other.
class ConstraintSet {
 public:
  virtual ~ConstraintSet() = default;
  ConstraintSet(const ConstraintSet&) = delete;
  ConstraintSet& operator=(const ConstraintSet&) = delete;

  virtual SetKind kind() const = 0;
  /// What parse_constraint reads back.
  virtual std::string to_string() const = 0;
  /// Refuses (kUsage) a dimension in which the set makes no sense.
  virtual Expected<void> check(std::int64_t dimension) const;
  /// Frank–Wolfe methods need a bounded set.
  virtual bool bounded() const { return true; }

  virtual bool contains(const Vector& w, double tolerance = 1e-9) const = 0;
  /// w = the nearest point of the set, in the Euclidean norm.
  virtual void project(Vector& w) const = 0;
  /// v = a point of the set where ⟨g, v⟩ is least: a vertex or boundary point, the first of equals.
  /// Precondition: bounded().
  virtual void minimize_linear(const Vector& g, Vector& v) const = 0;
  /// max ⟨g, v⟩ over the set. Precondition: bounded().
  virtual double support(const Vector& g) const = 0;

  /// Largest distance of two points; infinite if unbounded.
  virtual double diameter(std::int64_t dimension) const = 0;
  /// Largest sum of absolute entries of a point; infinite if unbounded.
  virtual double largest_l1(std::int64_t dimension) const = 0;
  /// E max ⟨z, v⟩ over the set for a standard normal vector z, exactly or from above (each set says
  /// which); infinite if unbounded.
  virtual double gaussian_width(std::int64_t dimension) const = 0;
  /// A point in the middle: where a run starts if 0 is outside.
  virtual Vector center(std::int64_t dimension) const { return Vector::Zero(dimension); }
  /// The listed vertices, one per row; null for sets that are not lists of vertices.
  virtual const Matrix* vertices() const { return nullptr; }

  /// max ⟨w - v, g⟩ over v in the set, the Frank–Wolfe gap of a point w with gradient g: never
  /// negative for w in the set, and zero exactly at stationary points. Precondition: bounded().
  double gap(const Vector& w, const Vector& g) const { return w.dot(g) + support(-g); }

 protected:
  explicit ConstraintSet(Passkey<class BuiltInSet>) {}
};

/// Null stands for the whole space.
using ConstraintPtr = std::shared_ptr<const ConstraintSet>;

/// {‖w‖ <= r}. Gaussian width r √2 Γ((d+1)/2) / Γ(d/2), exact.
ConstraintPtr l2_ball(double radius);
/// {‖w‖₁ <= r}. Gaussian width at most r √(2 ln 2d).
ConstraintPtr l1_ball(double radius);
/// {w >= 0, Σw = s}. Gaussian width at most s √(2 ln d).
ConstraintPtr simplex(double scale);
/// {low <= w_j <= high}, bounds may be infinite. Gaussian width d (high - low) / √(2π), exact.
ConstraintPtr box(double low, double high);
/// {Σ_G ‖w_G‖ <= r} over consecutive groups of `size` coordinates (the last may be shorter).
/// Gaussian width at most r (√size + √(2 ln #groups)).
ConstraintPtr group_ball(double radius, std::int64_t size);
/// The convex hull of the rows of `vertices`. Projection by Wolfe's method [Wol76]: finite, some
/// multiples of (vertices + active³) times the dimension. Gaussian width at most
/// max ‖v - mean‖ √(2 ln #vertices).
ConstraintPtr polytope(Matrix vertices, std::string name = "given");

/// Reads `none` (a null pointer), `l2:R`, `l1:R`, `simplex` or `simplex:S`, `box:LOW,HIGH`,
/// `linf:R`, `group-l1:R,SIZE` or `polytope:FILE`, the file holding one vertex a line, numbers
/// separated by blanks or commas. Fails (kUsage) on unknown names, missing numbers and empty sets,
/// and (kIo, kBadData) on files that can't be read.
Expected<ConstraintPtr> parse_constraint(std::string_view text);

/// The files that parse_constraint(text) reads.
std::vector<std::string> constraint_files(std::string_view text);

}  // namespace sotto
