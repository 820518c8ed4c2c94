#pragma once

// Two runs of the real program, one on each of two neighbouring data sets. The first ("world A")
// keeps every answer that its mechanisms release; the second ("world B") makes its own claims,
// receipts, charges, grids and noise from its own rows, and is then handed A's answers. Whatever
// the program does with answers is then the same in both, however adaptive; so every byte that
// leaves B and differs from A's was told by a row, not by an answer.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sotto/core/vector.hpp"
#include "sotto/mechanism/coordinate_selection.hpp"
#include "sotto/mechanism/joint_gaussian.hpp"
#include "tests/support/words.hpp"

namespace sotto::testing {

using Answer =
    std::variant<Vector, double, bool, std::int64_t, Matrix, GradientHessian, SignedCoordinate>;

/// A sealed value in coordinates in which the mechanism's norm is Euclidean, or the largest.
struct Sealed {
  std::string type;
  double sensitivity = 0;  ///< what was claimed, in the mechanism's norm
  Vector coordinates;
  std::vector<std::int64_t> integers;             ///< of CoordinateScores, exactly
  std::shared_ptr<std::vector<Vector>> products;  ///< of a lazy operator, as they are asked for
  bool largest = false;                           ///< the norm is the largest coordinate's
  bool monotone = false;                          ///< all must move in the same direction
};

/// What a run left behind.
struct World {
  int exit_code = -1;
  /// By the names of docs/background/privacy_model.md: model, record, journal, checkpoint, …
  std::map<std::string, std::string> artifacts;
  /// (event, claim, unit, sigma), one line each, in order.
  std::vector<std::string> releases;
  std::vector<Sealed> sealed;
  std::vector<Answer> answers;
  std::vector<std::string> mechanisms;  ///< that made an answer, as in kMechanisms
  std::vector<std::string> faults;      ///< what is wrong in this world alone
};

/// Each mechanism, told by what it opens, what it answers and its event. The closed list: a friend
/// of ReleaseKey that is not here fails a test.
struct MechanismLine {
  const char* name;
  const char* opens;
  const char* answers;
  const char* event;  ///< the first word of its event, sampling left out
};
extern const std::vector<MechanismLine> kMechanisms;

/// Everything that `differences` compares, as the table in docs/background/privacy_model.md names
/// it.
extern const std::vector<std::string> kCompared;

struct RunOptions {
  /// After so many answers a ^C arrives.
  std::optional<int> interrupt_after;
};

/// A program: reads and writes files of the current folder, talks to stdout and stderr.
using Program = std::function<int()>;
using Files = std::map<std::string, std::string>;

/// Runs it in a fresh folder that holds `files`; with `a`, its answers are A's.
World run_world(const Files& files,
                const Program& program,
                const World* a = nullptr,
                const RunOptions& options = {});

/// `sotto ARGUMENTS`.
Program sotto_program(Words arguments);

/// What tells A from B; empty for neighbours that nothing tells apart.
std::vector<std::string> differences(const World& a, const World& b);

/// The sums' distances from each other, largest as a share of what was claimed.
double largest_share(const World& a, const World& b);

}  // namespace sotto::testing
