#pragma once

#include <string>
#include <vector>

#include "sotto/study/document.hpp"
#include "sotto/study/spec.hpp"

namespace sotto::study {

// Whether a published claim holds, computed from cells. Nobody types a verdict: a claim names the
// cells that decide it (TestSpec), and the words follow from differences of means, their standard
// errors and the numbers of runs.

/// For readers: how the words came about.
inline constexpr const char* kHowDecided =
    "Whether a claim holds is computed from the cells: mean ± standard error (runs) against the "
    "other's, by Welch's test at 95 % for each comparison, not corrected for their number. Where a "
    "side has one run only the sign is told. Unless it says otherwise, cells are Sotto's at the "
    "certified ε.";

/// What one comparison of a claim came to.
enum class Outcome {
  kHolds,      ///< beyond the error of the means
  kFails,      ///< the other way, beyond the error
  kUndecided,  ///< the difference is within the error
  kForOnce,    ///< one run on a side: no error is known, the sign is for the claim
  kAgainstOnce,
  kNotRun,
};

struct Finding {
  Outcome outcome = Outcome::kNotRun;
  std::string text;  ///< the numbers, with their standard errors and runs
};

struct Verdict {
  Whole whole = Whole::kMixed;
  std::string word;      ///< `yes`, `no`, `no difference`, `yes in 3 of 5, no in 2`, `not run` …
  std::string evidence;  ///< made from the findings
};

/// Compares two means by Welch's test at 95 %, two-sided. `lower`: the claim is that the first is
/// lower. A side with one run has no error of its own, so that its comparison decides nothing.
Outcome compare(
    const Statistic& first, int first_runs, const Statistic& second, int second_runs, bool lower);

/// All comparisons that one test of a claim stands for, one per pair of cells.
std::vector<Finding> findings_of(const TestSpec& test, const std::vector<Reproduced>& all);

/// A claim's verdict over all of its tests.
Verdict verdict_of(const ClaimSpec& claim, const std::vector<Reproduced>& all);

/// A paper's claims; with a name, only those that cells of this reproduction decide.
std::vector<ClaimLine> claim_lines(const PaperSpec& paper,
                                   const std::vector<Reproduced>& all,
                                   const std::string& reproduction = "");

/// How many of a paper's claims hold, do not, or wait for cells: one sentence.
std::string summary_of(const PaperSpec& paper, const std::vector<Reproduced>& all);

/// kBadData when a test names a reproduction, row or measure that does not exist, so that a typing
/// mistake is no verdict.
Expected<void> check_claims(const std::vector<PaperSpec>& papers,
                            const std::vector<StudySpec>& specs);

}  // namespace sotto::study
