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
#include "sotto/privacy/sampling.hpp"

namespace sotto::study {

// What papers print for their noise, in one table (formula_table.cpp): history of papers, not a
// part of the accounting. Nothing here certifies anything: accountants price what comes out.

/// What a paper's calibration depends on. Radii do not matter: a formula's noise is proportional to
/// them, and so is the sensitivity; they scale only the printed `noise`.
struct FormulaInputs {
  std::int64_t n = 0;      ///< records
  std::int64_t steps = 0;  ///< T
  double epsilon = 0;      ///< what the paper claims to spend
  double delta = 0;
  std::int64_t batch = 0;  ///< records per batch; methods on the full batch ignore it
  double clip_radius =
      1;  ///< G, the bound on one record's gradient (dp-srm: S = gamma C1 + (1-gamma) C2)
  /// Under which relation, and for sampled methods with which sampling, the noise is priced.
  Relation relation = Relation::kReplaceOne;
  Sampling::Kind sampling = Sampling::Kind::kPoisson;
  double constant =
      4;  ///< dp-gd: the c in c G^2 T ln(1/delta) / (n epsilon)^2, which no paper states
  double beta = 0.5;         ///< dp-srm: the share of epsilon in its Renyi conversion
  bool line_search = false;  ///< opt: the third release of a step, a sparse vector
};

/// What the paper's own amplification lemma proves for the same releases.
struct PaperProof {
  std::string lemma;
  double epsilon = 0;  ///< infinite where its conditions hold at no order
  double order = 0;    ///< the Renyi order that gives it
  double needed = 0;   ///< the order that the paper's noise was chosen for
};

/// What the paper prints and what it really is.
struct Formula {
  double noise = 0;  ///< the paper's number
  std::string
      noise_meaning;  ///< what that number is, e.g. "standard deviation on the mean gradient"
  double noise_multiplier = 0;  ///< of the (first) noisy release in Sotto's unit; 0 for dp-fw-l1
  Event event;                  ///< all that a run with this noise releases
  std::string source;           ///< citation key and place
  std::string trap;             ///< where the printed formula misleads
  std::optional<PaperProof> proof = {};  ///< where the paper has a lemma for its sampling
};

/// [WJEG23] Lemma 3.7 with Lemma 3.9: `releases` Gaussians of multiplier z on batches of b of n
/// without replacement, under replace-one, have a Renyi divergence of at most 3.5 (b/n)^2 a / z^2
/// each at order a, if z^2 >= 0.7 and a <= 1 + (2/3) z^2 ln(1 / ((b/n) a (1 + z^2))). (Its print
/// has sigma^2 for z^2 in the second condition.) The best order's epsilon.
PaperProof lemma_of_wjeg23(
    std::int64_t releases, std::int64_t b, std::int64_t n, double z, double delta);

/// The methods that `sotto account --formula` knows.
const std::vector<std::string_view>& formula_methods();

/// Evaluates a paper's calibration. The epsilon that the noise really costs is that of `event` by
/// any accountant. Usage errors: an unknown method, or an input without meaning.
Expected<Formula> paper_formula(std::string_view method, const FormulaInputs& inputs);

// ---- For studies: a formula as the noise of a run -----------------------------------------------

/// What a published formula for noise is a function of.
struct NoiseFacts {
  PublicProblem problem;
  double epsilon = 0;
  double delta = 0;
  double steps = 0;  ///< T
  double batch = 0;  ///< expected units per batch; n for full batches
  std::map<std::string, double> arguments;

  double argument(const std::string& name, double otherwise) const {
    const auto found = arguments.find(name);
    return found == arguments.end() ? otherwise : found->second;
  }
};

/// A paper's noise in Sotto's terms: standard deviation over sensitivity under the problem's
/// relation.
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

}  // namespace sotto::study
