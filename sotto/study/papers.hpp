#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/study/spec.hpp"

namespace sotto::study {

// The papers and what they claim, as studies/papers.toml says it.

/// What a claim says of cells, in a form that they can answer. Rows, groups and sets that are left
/// empty stand for all; cells that differ in nothing but the row are paired.
struct TestSpec {
  enum class Kind {
    kLower,    ///< `row` has a lower value than `than`
    kHigher,   ///< or a higher one
    kSpends,   ///< the printed noise of `row` spends at most the stated epsilon
    kPrinted,  ///< `row` comes to what was printed
    kFalls,    ///< the value of `row` falls along x or epsilon
    kRises,
    kSteady,   ///< it does not change along them beyond the error
    kWidens,   ///< its lead over `than` grows along them
    kAtLeast,  ///< `row` reaches `bound`
    kAtMost,
    kSlope,  ///< a fitted exponent is at most the theory's
  };
  Kind kind = Kind::kLower;
  std::string in;  ///< a reproduction
  std::string measure;
  std::string row;
  std::string than;  ///< a row; empty: the same cell's other arm
  Way arm = Way::kBest;
  Way than_arm = Way::kBest;  ///< as `arm` unless given
  std::string group, data;
  std::optional<double> epsilon, x;
  Axis along = Axis::kX;  ///< what a test that follows() follows; or epsilon
  double bound = 0;

  /// Whether it compares the cells of a row with each other.
  bool follows() const {
    return kind == Kind::kFalls || kind == Kind::kRises || kind == Kind::kSteady ||
           kind == Kind::kWidens;
  }
};

/// A claim of a paper: a table, figure or theorem of it, and what decides it.
struct ClaimSpec {
  std::string item;  ///< `Table 2`, `Theorem 5.1`
  std::string claim;
  std::vector<TestSpec> tests;
  /// Where no cell can decide: the reason, by algebra or from the text. Shown as such.
  std::string argued;
  /// Nothing to run: why (a drawing; numbers that only an appendix holds).
  std::string absent;
  std::vector<std::string> see;  ///< further reproductions
};
struct PaperSpec {
  std::string key;  ///< empty: questions of our own
  std::string title;
  std::vector<std::string> reproductions;  ///< names, in order
  std::vector<ClaimSpec> claims;
};
Expected<std::vector<PaperSpec>> parse_papers(std::string_view text, const std::string& name);
Expected<std::vector<PaperSpec>> load_papers(const std::string& folder);

}  // namespace sotto::study
