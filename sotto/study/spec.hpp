#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/optimizer/option_table.hpp"

namespace sotto::study {

// What a published table or figure is made of, as its file under studies/ says it. A file names
// everything that a reader would otherwise have to know from the program: data, settings, what was
// printed, how the paper got it, and what Sotto does at the same certified epsilon.

/// Training of a network on public images without privacy, for its convolutions.
struct PublicTraining {
  std::string name;          ///< of the public set
  std::string train;         ///< CIFAR-100's binary file below the data folder
  std::int64_t classes = 0;  ///< that it has
  double epochs = 0;
  double step_size = 0;
};

/// How a data set is read or made.
enum class DataKind {
  kLibsvm,
  kCsv,
  kIdxPair,  ///< two classes of images, for linear models
  kLinear,   ///< made up, as the next three
  kSigns,
  kSparse,
  kPhase,
  kIdx,  ///< images of ten classes, for networks
  kCifar,
};
inline constexpr Named<DataKind> kDataKinds[] = {
    {DataKind::kLibsvm, "libsvm"},
    {DataKind::kCsv, "csv"},
    {DataKind::kIdxPair, "idx-pair"},
    {DataKind::kLinear, "linear"},
    {DataKind::kSigns, "signs"},
    {DataKind::kSparse, "sparse"},
    {DataKind::kPhase, "phase"},
    {DataKind::kIdx, "idx"},
    {DataKind::kCifar, "cifar"},
};

/// The two ways to fill a cell: as the paper did, and with Sotto's method at the certified epsilon.
enum class Way { kRecipe, kBest };
inline constexpr Named<Way> kWays[] = {{Way::kRecipe, "recipe"}, {Way::kBest, "best"}};

/// What a chart, a slope or a claim follows: from cell to cell, or along the curve of a cell's
/// runs.
enum class Axis { kX, kEpsilon, kPasses, kSteps, kSeconds };
inline constexpr Named<Axis> kAxes[] = {{Axis::kX, "x"},
                                        {Axis::kEpsilon, "epsilon"},
                                        {Axis::kPasses, "passes"},
                                        {Axis::kSteps, "steps"},
                                        {Axis::kSeconds, "seconds"}};
inline bool is_of_curves(Axis axis) { return axis != Axis::kX && axis != Axis::kEpsilon; }

/// A data set and how it is read.
struct DataSpec {
  std::string name;
  DataKind kind = DataKind::kLibsvm;
  std::string train, test;            ///< files below the data folder; empty test: no held-out rows
  std::string schema;                 ///< csv: a schema among the examples
  std::vector<std::int64_t> classes;  ///< csv, idx-pair: the two that are kept, negative first
  std::int64_t dim = 0;
  double row_norm = 0;                  ///< enforced; 0: follows from the kind of made-up rows
  double row_max = 0;                   ///< public bound on the entries; 0: none
  std::int64_t rows = 0;                ///< the first so many; 0: all
  std::uint64_t seed = 1;               ///< made-up rows
  std::vector<double> mean, deviation;  ///< images: public constants, one per channel
  std::optional<PublicTraining> public_training;
  std::string about;  ///< one sentence for the page
};

/// One way to fill a cell. Texts of options may contain {x}, {epsilon}, {seed}, {n}, {n/50} and
/// {1/steps}.
struct ArmSpec {
  std::string method;
  GivenOptions options;
  GivenOptions quick_options;  ///< replace those in quick mode
  std::string epochs;          ///< steps = epochs n / expected_batch; a number or {x}
  std::string noise;           ///< a formula of published/formula.hpp; empty: by certified epsilon
  std::map<std::string, double> noise_arguments;
  std::int64_t rows = 0;            ///< the first so many, where noise does not follow n; 0: all
  std::optional<double> most_runs;  ///< fewer runs than others, where a run is long
};

/// Later options replace earlier ones of the same name.
void merge(GivenOptions& options, const GivenOptions& more);

/// What a paper printed for one measure.
struct Printed {
  double value = 0;
  std::optional<double> deviation;
};

struct CellSpec {
  std::string row;    ///< the method as the paper calls it
  std::string group;  ///< panel of a figure, or part of a table
  std::string data;
  std::optional<double> epsilon;
  std::optional<double> x;  ///< whatever a figure varies beside epsilon
  std::string delta;
  std::string loss;
  std::string regularizer;
  std::string neighbours;
  std::string constraint = "none";
  std::string model = "linear";  ///< or a built-in network
  std::int64_t rows = 0;         ///< the data set's first so many; 0: as the data set says
  std::int64_t dim = 0;          ///< of made-up data; 0: as the data set says
  std::map<std::string, Printed> printed;
  std::string printed_words;  ///< where a figure has no numbers to read off
  std::optional<ArmSpec> recipe;
  std::optional<ArmSpec> best;
  std::string note;
  bool quick = true;

  const std::optional<ArmSpec>& arm(Way way) const { return way == Way::kRecipe ? recipe : best; }
  /// Its place among cells: epsilon, or x.
  const std::optional<double>& at(Axis axis) const { return axis == Axis::kEpsilon ? epsilon : x; }
};

struct ChartSpec {
  std::string title;
  Axis x = Axis::kX;
  std::string x_label;
  std::string y;      ///< a measure
  std::string group;  ///< empty: of all groups; `-`: of cells without one
  std::string data;
  std::optional<double> epsilon;
  bool log_x = false;
  bool log_y = false;
  std::vector<Way> arms = {Way::kRecipe, Way::kBest};
};

/// A chart that follows from formulas: nothing is run for it.
struct FormulaChartSpec {
  std::string title;
  std::string formula;  ///< of published/curves.hpp
  std::map<std::string, double> arguments;
  bool log_x = false;
  bool log_y = false;
};

/// A fitted exponent beside the theory's.
struct SlopeSpec {
  std::string title;
  std::string measure;
  std::string group;
  std::string row;
  Axis against = Axis::kX;  ///< or epsilon
  double theory = 0;
};

struct StudySpec {
  std::string name;
  std::string paper;  ///< key in docs/background/bibliography.md; empty: a question of our own
  std::string shows;  ///< `Table 2`
  std::string title;
  std::vector<std::string> columns;  ///< measures, in order
  int runs = 5;
  int quick_runs = 1;
  std::vector<std::uint64_t> seeds;  ///< empty: first_seed, first_seed + 1, …
  std::uint64_t first_seed = 0;
  double saddle_tolerance =
      0;  ///< escaped, first_passes: the least eigenvalue is at least minus it
  bool curves = false;
  std::int64_t quick_rows = 0;  ///< quick mode: at most so many rows of each data set
  std::string x_label = "x";
  std::map<std::string, DataSpec> data;
  std::vector<CellSpec> cells;
  std::vector<ChartSpec> charts;
  std::vector<FormulaChartSpec> formula_charts;
  std::vector<SlopeSpec> slopes;
  std::vector<std::string> notes;  ///< why it came out so; verdicts are computed, not typed
  std::vector<std::string> instead, traps;
};

/// Reads a reproduction from TOML; `name` is the file's, for messages. kBadData with
/// file:line:column and the known keys on anything that is not understood.
Expected<StudySpec> parse_spec(std::string_view text, const std::string& name);

/// The folder of the files: `given`, or beside the program at `program` (installed, or in a build
/// folder of the source tree), or ./studies. kIo with the places that were looked at.
Expected<std::string> find_specs(const std::string& given, const std::string& program);

/// All reproductions in the folder, in the order of papers.toml, which must list every one.
Expected<std::vector<StudySpec>> load_specs(const std::string& folder);

/// The measures that a run reports, with the words for tables.
struct MeasureInfo {
  std::string name;
  std::string title;
  int digits;
  bool spread = true;  ///< shown with its deviation over the runs
};
const std::vector<MeasureInfo>& measures();
const MeasureInfo* find_measure(std::string_view name);

}  // namespace sotto::study
