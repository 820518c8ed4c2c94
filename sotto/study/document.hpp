#pragma once

#include <string>
#include <vector>

#include "sotto/study/papers.hpp"
#include "sotto/study/results.hpp"
#include "sotto/study/spec.hpp"

namespace sotto::study {

/// A reproduction with its results; no results: it has not been run.
struct Reproduced {
  StudySpec spec;
  std::optional<Results> results;
};

/// A published claim with its computed verdict, as tables show it.
/// What all comparisons of a claim came to: mixed also where no cell decides.
enum class Whole { kHolds, kFails, kMixed, kNotRun };

struct ClaimLine {
  std::string item;
  std::string claim;
  Whole whole = Whole::kMixed;
  std::string word;
  std::string evidence;
  std::vector<std::string> see;  ///< the reproductions whose cells decide
};

/// As Markdown: what docs/studies holds. A function of files alone, so that a test can make
/// them again.
std::string markdown_of(const StudySpec& spec,
                        const Results& results,
                        const std::vector<ClaimLine>& claims);
/// The index beside them: each paper's claims, then every published number.
std::string markdown_index(const std::vector<PaperSpec>& papers,
                           const std::vector<Reproduced>& all);

/// The same as self-contained pages with charts.
std::string page_of(const StudySpec& spec,
                    const Results& results,
                    const std::vector<ClaimLine>& claims);
std::string page_index(const std::vector<PaperSpec>& papers, const std::vector<Reproduced>& all);

}  // namespace sotto::study
