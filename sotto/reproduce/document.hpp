#pragma once

#include <string>
#include <vector>

#include "sotto/reproduce/papers.hpp"
#include "sotto/reproduce/results.hpp"
#include "sotto/reproduce/spec.hpp"

namespace sotto::reproduce {

/// A reproduction with its results; no results: it has not been run.
struct Reproduced {
  ReproductionSpec spec;
  std::optional<Results> results;
};

/// A published claim with its computed verdict, as tables show it.
struct ClaimLine {
  std::string item;
  std::string claim;
  std::string word;
  std::string evidence;
  std::vector<std::string> see;  ///< the reproductions whose cells decide
};

/// As Markdown: what docs/reproductions holds. A function of files alone, so that a test can make
/// them again.
std::string markdown_of(const ReproductionSpec& spec,
                        const Results& results,
                        const std::vector<ClaimLine>& claims);
/// The index: each paper's claims, then every published number. `folder`: where the documents of
/// the reproductions are, seen from the index.
std::string markdown_index(const std::vector<PaperSpec>& papers,
                           const std::vector<Reproduced>& all,
                           const std::string& folder);

/// The same as self-contained pages with charts.
std::string page_of(const ReproductionSpec& spec,
                    const Results& results,
                    const std::vector<ClaimLine>& claims);
std::string page_index(const std::vector<PaperSpec>& papers, const std::vector<Reproduced>& all);

}  // namespace sotto::reproduce
