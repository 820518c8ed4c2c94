#include "sotto/geometry/constraint_set.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/support/temp_dir.hpp"

namespace sotto {
namespace {

using ::testing::HasSubstr;

/// A set with its definition, written down once more.
struct Known {
  std::string name;
  ConstraintPtr set;
  std::function<bool(const Vector&)> inside;
  double reach;  ///< every point has entries within ± this
};

Matrix triangle() {
  Matrix v(4, 3);
  v << 1, 0, 0.5, -1, 1, 0, 0, -1, -1, 0.5, 0.5, 1;
  return v;
}

/// Barycentric coordinates of a point in a tetrahedron, by Cramer's rule in long form.
bool inside_triangle(const Vector& w) {
  const Matrix v = triangle();
  Matrix system(4, 4);
  system.topRows(3) = v.transpose();
  system.row(3).setOnes();
  Vector right(4);
  right << w, 1;
  const Vector weights = system.inverse() * right;
  return weights.minCoeff() >= -1e-12;
}

std::vector<Known> known_sets() {
  return {
      {"l2", l2_ball(1.5), [](const Vector& w) { return w.norm() <= 1.5; }, 1.5},
      {"l1", l1_ball(1.2), [](const Vector& w) { return w.cwiseAbs().sum() <= 1.2; }, 1.2},
      {"box",
       box(-0.5, 1),
       [](const Vector& w) { return w.minCoeff() >= -0.5 && w.maxCoeff() <= 1; },
       1},
      {"group",
       group_ball(1.3, 2),
       [](const Vector& w) { return std::hypot(w[0], w[1]) + std::fabs(w[2]) <= 1.3; },
       1.3},
      {"polytope", polytope(triangle()), inside_triangle, 1},
  };
}

/// All points of a grid that lie in the set.
std::vector<Vector> points_of(const Known& known) {
  constexpr int kSteps = 24;
  std::vector<Vector> points;
  for (int i = -kSteps; i <= kSteps; ++i)
    for (int j = -kSteps; j <= kSteps; ++j)
      for (int k = -kSteps; k <= kSteps; ++k) {
        Vector w(3);
        w << i, j, k;
        w *= known.reach / kSteps;
        if (known.inside(w)) points.push_back(w);
      }
  return points;
}

/// The simplex has no interior: its grid is its own.
std::vector<Vector> simplex_points(double s) {
  constexpr int kSteps = 60;
  std::vector<Vector> points;
  for (int i = 0; i <= kSteps; ++i)
    for (int j = 0; i + j <= kSteps; ++j) {
      Vector w(3);
      w << i, j, kSteps - i - j;
      points.push_back(w * (s / kSteps));
    }
  return points;
}

std::vector<Vector> random_vectors(int count, double size) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  std::vector<Vector> result;
  for (int k = 0; k < count; ++k) {
    Vector v(3);
    for (double& x : v) x = size * normal(random);
    result.push_back(v);
  }
  return result;
}

/// Projection and linear minimizer against every point of the grid. `spacing` bounds how far a
/// point of the set can be from the grid's nearest one.
void check_against(const ConstraintSet& set, const std::vector<Vector>& points, double spacing) {
  ASSERT_GT(points.size(), 100u);
  for (const Vector& point : points) ASSERT_TRUE(set.contains(point, 1e-9));
  for (const Vector& w : random_vectors(60, 1.5)) {
    Vector p = w;
    set.project(p);
    ASSERT_TRUE(set.contains(p, 1e-9));
    // The projection is the one point with ⟨w - p, v - p⟩ <= 0 for all v of the set.
    double least = 1e300;
    for (const Vector& v : points) {
      EXPECT_LE((w - p).dot(v - p), 1e-9);
      least = std::min(least, (w - v).norm());
    }
    EXPECT_LE((w - p).norm(), least + 1e-12);
    EXPECT_GE((w - p).norm(), least - spacing);
    Vector again = p;
    set.project(again);
    EXPECT_LE((again - p).norm(), 1e-9);

    Vector v;
    set.minimize_linear(w, v);
    ASSERT_TRUE(set.contains(v, 1e-9));
    double lowest = 1e300;
    double highest = -1e300;
    for (const Vector& u : points) {
      lowest = std::min(lowest, w.dot(u));
      highest = std::max(highest, w.dot(u));
    }
    EXPECT_LE(w.dot(v), lowest + 1e-9);
    EXPECT_GE(w.dot(v), lowest - spacing * w.norm());
    EXPECT_GE(set.support(w), highest - 1e-9);
    EXPECT_LE(set.support(w), highest + spacing * w.norm());
    EXPECT_NEAR(set.support(-w), -w.dot(v), 1e-9);
    EXPECT_GE(set.gap(p, w), -1e-9);
    EXPECT_NEAR(set.gap(v, w), 0, 1e-9);
  }
  double diameter = 0;
  double largest = 0;
  for (std::size_t i = 0; i < points.size(); i += 7) {
    largest = std::max(largest, points[i].cwiseAbs().sum());
    for (std::size_t j = 0; j < i; j += 11)
      diameter = std::max(diameter, (points[i] - points[j]).norm());
  }
  EXPECT_GE(set.diameter(3), diameter - 1e-9);
  EXPECT_LE(set.diameter(3), diameter + 6 * spacing);
  EXPECT_GE(set.largest_l1(3), largest - 1e-9);
}

TEST(ConstraintSet, BruteForceInThreeDimensions) {
  for (const Known& known : known_sets()) {
    SCOPED_TRACE(known.name);
    check_against(*known.set, points_of(known), 2.5 * known.reach / 24);
  }
  SCOPED_TRACE("simplex");
  check_against(*simplex(0.8), simplex_points(0.8), 2.5 * 0.8 / 60);
}

/// A wrong projection fails the same check: clamping to the cube around the l1 ball, scaled.
TEST(ConstraintSet, TheCheckOfProjectionsCanFail) {
  const Known l1 = known_sets()[1];
  Vector w(3);
  w << 2, 1, 0.1;
  const Vector scaled = w * (1.2 / w.cwiseAbs().sum());  // onto the ball, but not the nearest
  double worst = -1;
  for (const Vector& v : points_of(l1)) worst = std::max(worst, (w - scaled).dot(v - scaled));
  EXPECT_GT(worst, 1e-3);
}

TEST(ConstraintSet, GaussianWidthsByMonteCarlo) {
  constexpr int kDraws = 20000;
  constexpr int kDimension = 6;
  Matrix corners = Matrix::Random(9, kDimension);
  struct Case {
    ConstraintPtr set;
    bool exact;
  };
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  for (const auto& [set, exact] : {Case{l2_ball(2), true},
                                   Case{l1_ball(2), false},
                                   Case{simplex(2), false},
                                   Case{box(-1, 0.5), true},
                                   Case{group_ball(2, 4), false},
                                   Case{polytope(corners), false}}) {
    double sum = 0;
    double squares = 0;
    for (int k = 0; k < kDraws; ++k) {
      Vector z(kDimension);
      for (double& x : z) x = normal(random);
      const double value = set->support(z);
      sum += value;
      squares += value * value;
    }
    const double mean = sum / kDraws;
    // Five standard errors: a false alarm has probability below 1e-6 a case.
    const double slack = 5 * std::sqrt((squares / kDraws - mean * mean) / kDraws);
    const double width = set->gaussian_width(kDimension);
    EXPECT_GE(width, mean - slack) << set->to_string();
    EXPECT_LE(width, exact ? mean + slack : 3 * mean) << set->to_string();
  }
}

TEST(ConstraintSet, HighDimensionalProjections) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  Vector w(100000);
  for (double& x : w) x = normal(random);
  Vector p = w;
  l1_ball(5)->project(p);
  EXPECT_NEAR(p.lpNorm<1>(), 5, 1e-9);
  // One threshold explains every entry.
  double threshold = -1;
  for (Eigen::Index j = 0; j < w.size(); ++j)
    if (p[j] != 0) threshold = std::fabs(w[j]) - std::fabs(p[j]);
  for (Eigen::Index j = 0; j < w.size(); ++j) {
    const double kept = std::max(std::fabs(w[j]) - threshold, 0.0);
    EXPECT_NEAR(std::fabs(p[j]), kept, 1e-12);
  }
  Vector s = w;
  simplex(1)->project(s);
  EXPECT_NEAR(s.sum(), 1, 1e-9);
  EXPECT_GE(s.minCoeff(), 0);
}

TEST(ConstraintSet, EqualEntriesAndTies) {
  Vector w = Vector::Constant(4, 3.0);
  l1_ball(2)->project(w);
  for (const double x : w) EXPECT_DOUBLE_EQ(x, 0.5);
  Vector v;
  l1_ball(2)->minimize_linear(Vector::Zero(3), v);
  EXPECT_DOUBLE_EQ(v.lpNorm<1>(), 2);
  l2_ball(2)->minimize_linear(Vector::Zero(3), v);
  EXPECT_DOUBLE_EQ(v.norm(), 2);
}

TEST(ConstraintSet, TextsAreReadBack) {
  for (const std::string text :
       {"l2:1.5", "l1:10", "simplex:2", "box:-1,3", "box:-inf,0", "group-l1:2,3"}) {
    const auto set = parse_constraint(text);
    ASSERT_TRUE(set) << set.error().message;
    EXPECT_EQ((*set)->to_string(), text);
  }
  EXPECT_EQ(*parse_constraint("none"), nullptr);
  EXPECT_EQ((*parse_constraint("linf:2"))->to_string(), "box:-2,2");
  EXPECT_EQ((*parse_constraint("simplex"))->to_string(), "simplex:1");
  EXPECT_FALSE((*parse_constraint("box:-inf,0"))->bounded());
  EXPECT_TRUE((*parse_constraint("box:-1,0"))->bounded());
}

TEST(ConstraintSet, BadSetsSayWhatIsWrong) {
  const auto message = [](const std::string& text) {
    const auto set = parse_constraint(text);
    EXPECT_FALSE(set) << text;
    return set ? std::string() : set.error().message;
  };
  EXPECT_THAT(message("ball:1"), HasSubstr("unknown"));
  EXPECT_THAT(message("l1"), HasSubstr("needs one finite number"));
  EXPECT_THAT(message("l1:-1"), HasSubstr("empty"));
  EXPECT_THAT(message("l2:0"), HasSubstr("one point"));
  EXPECT_THAT(message("l2:nan"), HasSubstr("finite"));
  EXPECT_THAT(message("box:2,1"), HasSubstr("empty"));
  EXPECT_THAT(message("box:1"), HasSubstr("two numbers"));
  EXPECT_THAT(message("group-l1:1,1.5"), HasSubstr("whole number"));
  EXPECT_THAT(message("polytope:"), HasSubstr("file"));
  EXPECT_THAT(message("polytope:/nowhere/at/all"), HasSubstr("can't read"));
}

TEST(ConstraintSet, PolytopesFromFiles) {
  testing::TempDir dir;
  const auto written = [&](const std::string& name, const std::string& text) {
    return parse_constraint("polytope:" + dir.write(name, text));
  };
  const auto fine = written("fine", "1 0\n0,1\n\n-1 -1\n");
  ASSERT_TRUE(fine) << fine.error().message;
  EXPECT_EQ((*fine)->vertices()->rows(), 3);
  EXPECT_TRUE((*fine)->check(2));
  EXPECT_THAT((*fine)->check(3).error().message, HasSubstr("2 coordinates"));
  EXPECT_THAT(written("empty", "\n").error().message, HasSubstr("empty"));
  EXPECT_THAT(written("ragged", "1 2\n3\n").error().message, HasSubstr(":2:"));
  EXPECT_THAT(written("text", "1 two\n").error().message, HasSubstr(":1:"));
  EXPECT_FALSE(group_ball(1, 5)->check(4));
}

}  // namespace
}  // namespace sotto
