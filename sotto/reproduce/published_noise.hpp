#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/optimizer/option_table.hpp"
#include "sotto/oracle/api/public_problem.hpp"
#include "sotto/privacy/event.hpp"

namespace sotto::reproduce {

/// What a published formula for noise is a function of.
struct NoiseFacts {
  PublicProblem problem;
  double epsilon = 0;
  double delta = 0;
  double steps = 0;        ///< T
  double batch = 0;        ///< expected units a batch; n for full batches
  double clip_radius = 1;  ///< what stands for the paper's G (of a pair: its reach S)
  std::map<std::string, double> arguments;

  double argument(const std::string& name, double otherwise) const {
    const auto found = arguments.find(name);
    return found == arguments.end() ? otherwise : found->second;
  }
};

/// A paper's noise in Sotto's terms: standard deviation over sensitivity under the problem's
/// relation. Nothing here certifies anything: accountants price what comes out.
struct PublishedNoise {
  std::optional<double> multiplier;  ///< none: the method chooses its noise from a budget
  GivenOptions options;              ///< what else the method must be told
  /// What the paper's own mechanism releases, where that is not what the method's plan says
  /// (formulas for another n, public code with a flaw).
  std::optional<Event> releases;
  /// False: the run is made otherwise (a flaw that Sotto does not repeat), so that `releases` is
  /// what the public code would have spent, not what the run shown did.
  bool is_run = true;
};

/// By name; kUsage lists the names. `n` among the arguments: the formula is evaluated for the
/// paper's n, and the run gets the same absolute noise.
Expected<PublishedNoise> published_noise(std::string_view formula, const NoiseFacts& facts);

/// Name and citation of every formula, for pages and tests.
struct FormulaInfo {
  std::string name;
  std::string source;
  std::string text;
};
const std::vector<FormulaInfo>& published_formulas();

/// rho at which rho + 2 sqrt(rho ln(1/delta)) = epsilon [BS16].
double zcdp_of(double epsilon, double delta);

}  // namespace sotto::reproduce
