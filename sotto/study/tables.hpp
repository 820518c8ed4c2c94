#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sotto/report/chart.hpp"
#include "sotto/study/papers.hpp"
#include "sotto/study/results.hpp"
#include "sotto/study/spec.hpp"

namespace sotto::study {

// What pages and documents show, as texts: made here once, so that they can't disagree.

/// `[WX19], Table 1`; what it shows where it is of no paper.
std::string origin_of(const StudySpec& spec);
/// `A title [KEY]`; the title where there is no key.
std::string title_of(const PaperSpec& paper);

/// Mean ± standard deviation of a measure, with as many digits as it deserves.
std::string value_text(const std::string& measure, const Statistic& value, int runs);

/// What an arm spends: three digits that are never below the bound.
std::string epsilon_text(const ArmResult& arm);

/// One of the up to three lines of a cell.
struct Line {
  std::string cell;  ///< the row as printed, with epsilon and x
  std::string what;  ///< `printed`, `its recipe`, `Sotto: dp-srm`
  std::string epsilon;
  bool over = false;  ///< spends more than it says
  std::vector<std::string> values;
};

struct Panel {
  std::string title;                 ///< group and data set; may be empty
  std::vector<std::string> columns;  ///< titles of the measures
  std::vector<Line> lines;
};

/// The tables of a study, one per group and data set.
std::vector<Panel> panels_of(const StudySpec& spec, const Results& results);

/// A fitted exponent beside the theory's.
struct SlopeLine {
  std::string title;
  std::string measured;
  std::string theory;
};
/// The points that an exponent is fitted to.
std::vector<std::pair<double, double>> slope_points(const SlopeSpec& slope,
                                                    const StudySpec& spec,
                                                    const Results& results);
std::vector<SlopeLine> slopes_of(const StudySpec& spec, const Results& results);

std::vector<Chart> charts_of(const StudySpec& spec, const Results& results);

/// One printed number and what stands against it.
struct Comparison {
  std::string reproduction;
  std::string cell;
  std::string measure;
  std::string printed;
  std::string recipe;
  std::string recipe_epsilon;
  std::string best;
  std::string best_epsilon;
};
std::vector<Comparison> comparisons_of(const StudySpec& spec, const Results& results);

/// How the numbers came about: runs, version, machine, command.
std::string provenance(const Results& results);

/// Formulas of the recipes and curves that the spec uses, each with its citation.
std::vector<std::string> formulas_of(const StudySpec& spec);

}  // namespace sotto::study
