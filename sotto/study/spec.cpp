#include "sotto/study/spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "sotto/core/file.hpp"
#include "sotto/study/papers.hpp"
#include "sotto/study/published/curves.hpp"
#include "sotto/study/toml_reader.hpp"

namespace sotto::study {
namespace {

namespace fs = std::filesystem;

using Arms = std::map<std::string, ArmSpec>;

Expected<ArmSpec> read_arm(const toml::table& table, const std::string& file, const Arms& arms) {
  TomlTable toml(table, file, "arm");
  ArmSpec arm;
  if (const std::string used = toml.text("use"); !used.empty()) {
    const auto found = arms.find(used);
    if (found == arms.end())
      toml.complain(fmt::format("there is no [arm.{}].", used));
    else
      arm = found->second;
  }
  arm.method = toml.text("method", arm.method);
  if (arm.method.empty()) toml.complain("'method' is missing.");
  merge(arm.options, toml.words("options"));
  merge(arm.quick_options, toml.words("quick_options"));
  arm.epochs = toml.text("epochs", arm.epochs);
  if (const auto most = toml.number("most_runs")) arm.most_runs = most;
  arm.rows = toml.integer("rows", arm.rows);
  arm.noise = toml.text("noise", arm.noise);
  for (const auto& [name, values] : toml.number_lists("noise_arguments"))
    if (values.size() == 1) arm.noise_arguments[name] = values[0];
  SOTTO_TRY(toml.finish());
  return arm;
}

/// `recipe = "name"`, or `recipe = { use = "name", options = { … } }`.
Expected<std::optional<ArmSpec>> arm_of(TomlTable& cell, const char* key, const Arms& arms) {
  const toml::node* node = cell.node(key);
  if (!node) return std::nullopt;
  if (const auto name = node->value_exact<std::string>()) {
    const auto found = arms.find(*name);
    if (found != arms.end()) return found->second;
    cell.complain(node->source(), fmt::format("there is no [arm.{}].", *name));
    return std::nullopt;
  }
  if (const auto* table = node->as_table()) {
    SOTTO_ASSIGN(ArmSpec arm, read_arm(*table, cell.file(), arms));
    return arm;
  }
  cell.complain(node->source(), fmt::format("'{}' must be the name of an arm or a table.", key));
  return std::nullopt;
}

Expected<PublicTraining> read_public_training(const toml::table& table, const std::string& file) {
  TomlTable toml(table, file, "public_training");
  PublicTraining how;
  how.name = toml.required("name");
  how.train = toml.required("train");
  how.classes = toml.integer("classes", 0);
  how.epochs = toml.number("epochs", 0);
  how.step_size = toml.number("step_size", 0);
  if (how.classes < 2 || !(how.epochs > 0) || !(how.step_size > 0))
    toml.complain("'classes' must be at least 2, 'epochs' and 'step_size' must be > 0.");
  SOTTO_TRY(toml.finish());
  return how;
}

Expected<DataSpec> read_data(const std::string& name,
                             const toml::table& table,
                             const std::string& file) {
  TomlTable toml(table, file, fmt::format("[data.{}]", name));
  DataSpec data;
  data.name = name;
  data.kind = toml.word("kind", kDataKinds);
  data.train = toml.text("train");
  data.test = toml.text("test");
  data.schema = toml.text("schema");
  for (const double value : toml.numbers("classes"))
    data.classes.push_back(static_cast<std::int64_t>(value));
  data.dim = toml.integer("dim", 0);
  data.row_norm = toml.number("row_norm", 0);
  data.row_max = toml.number("row_max", 0);
  data.rows = toml.integer("rows", 0);
  data.seed = static_cast<std::uint64_t>(toml.integer("seed", 1));
  data.mean = toml.numbers("mean");
  data.deviation = toml.numbers("deviation");
  if (const toml::table* how = toml.table("public_training")) {
    SOTTO_ASSIGN(data.public_training, read_public_training(*how, file));
  }
  data.about = toml.required("about");
  const bool made_up = data.kind == DataKind::kLinear || data.kind == DataKind::kSigns ||
                       data.kind == DataKind::kSparse || data.kind == DataKind::kPhase;
  const bool images = data.kind == DataKind::kIdx || data.kind == DataKind::kCifar;
  if (!(data.row_norm > 0) && !made_up && !images)
    toml.complain("'row_norm' must be > 0: a public bound on the rows.");
  if (made_up ? data.rows < 1 || data.dim < 1 : data.train.empty())
    toml.complain("made-up data needs 'rows' and 'dim', any other a file 'train'.");
  SOTTO_TRY(toml.finish());
  return data;
}

/// What a cell does not say is what [settings] says.
struct Defaults {
  std::string delta, loss, regularizer, neighbours, constraint, model, data;
};

void copy_printed(const std::map<std::string, std::vector<double>>& lists,
                  std::size_t at,
                  CellSpec& cell) {
  const auto value_of = [&](const std::vector<double>& list) {
    return list.size() == 1 ? list[0] : list[at];
  };
  for (const auto& [name, list] : lists) {
    if (name.ends_with("_sd")) continue;
    Printed printed{value_of(list), std::nullopt};
    if (std::isnan(printed.value)) continue;  // nan: nothing was printed
    if (const auto sd = lists.find(name + "_sd"); sd != lists.end())
      if (const double value = value_of(sd->second); !std::isnan(value)) printed.deviation = value;
    cell.printed[name] = printed;
  }
}

/// One [[cell]] is a cell for every data set, epsilon and x that it lists.
Expected<void> read_cells(const toml::table& table,
                          const Defaults& defaults,
                          const Arms& arms,
                          StudySpec& spec,
                          const std::string& file) {
  TomlTable toml(table, file, "[[cell]]");
  CellSpec cell;
  cell.row = toml.required("row");
  cell.group = toml.text("group");
  cell.delta = toml.text("delta", defaults.delta);
  cell.loss = toml.text("loss", defaults.loss);
  cell.regularizer = toml.text("regularizer", defaults.regularizer);
  cell.neighbours = toml.text("neighbours", defaults.neighbours);
  cell.constraint = toml.text("constraint", defaults.constraint);
  cell.model = toml.text("model", defaults.model);
  cell.printed_words = toml.text("printed_words");
  cell.note = toml.text("note");
  cell.quick = toml.flag("quick", true);
  const std::string vary = toml.text("x_is");
  std::vector<std::string> sets = toml.texts("data");
  if (sets.empty()) sets = {defaults.data};
  for (const auto& set : sets)
    if (!spec.data.contains(set)) toml.complain(fmt::format("there is no [data.{}].", set));
  std::vector<double> epsilons = toml.numbers("epsilon");
  std::vector<double> xs = toml.numbers("x");
  cell.rows = toml.integer("rows", 0);
  SOTTO_ASSIGN(cell.recipe, arm_of(toml, "recipe", arms));
  SOTTO_ASSIGN(cell.best, arm_of(toml, "best", arms));
  const auto printed = toml.number_lists("printed");
  const std::size_t count =
      sets.size() * std::max<std::size_t>(epsilons.size(), 1) * std::max<std::size_t>(xs.size(), 1);
  for (const auto& [name, list] : printed) {
    const std::string measure = name.ends_with("_sd") ? name.substr(0, name.size() - 3) : name;
    if (!find_measure(measure))
      toml.complain(fmt::format("'printed' has no measure '{}'.", measure));
    if (list.size() != 1 && list.size() != count)
      toml.complain(fmt::format("'{}' lists {} values for {} cells (data sets x epsilons x x).",
                                name,
                                list.size(),
                                count));
  }
  if (vary != "" && vary != "rows" && vary != "dim") toml.complain("'x_is' must be rows or dim.");
  SOTTO_TRY(toml.finish());
  std::size_t at = 0;
  for (const auto& set : sets)
    for (std::size_t e = 0; e < std::max<std::size_t>(epsilons.size(), 1); ++e)
      for (std::size_t k = 0; k < std::max<std::size_t>(xs.size(), 1); ++k) {
        CellSpec each = cell;
        each.data = set;
        if (!epsilons.empty()) each.epsilon = epsilons[e];
        if (!xs.empty()) each.x = xs[k];
        if (vary == "rows") each.rows = static_cast<std::int64_t>(*each.x);
        if (vary == "dim") each.dim = static_cast<std::int64_t>(*each.x);
        copy_printed(printed, at++, each);
        spec.cells.push_back(std::move(each));
      }
  return {};
}

Expected<ChartSpec> read_chart(const toml::table& table, const std::string& file) {
  TomlTable toml(table, file, "[[chart]]");
  ChartSpec chart;
  chart.title = toml.required("title");
  chart.x = toml.word("x", kAxes);
  chart.x_label = toml.text("x_label", std::string(name_of(chart.x, kAxes)));
  chart.y = toml.required("y");
  if (!find_measure(chart.y)) toml.complain(fmt::format("there is no measure '{}'.", chart.y));
  chart.group = toml.text("group");
  chart.data = toml.text("data");
  chart.epsilon = toml.number("epsilon");
  chart.log_x = toml.flag("log_x", false);
  chart.log_y = toml.flag("log_y", false);
  if (toml.has("arms")) {
    chart.arms.clear();
    for (const auto& arm : toml.texts("arms")) {
      const auto way = named(arm, kWays);
      if (!way) toml.complain(fmt::format("'arms' are recipe and best, but one is '{}'.", arm));
      chart.arms.push_back(way.value_or(Way::kBest));
    }
  }
  SOTTO_TRY(toml.finish());
  return chart;
}

Expected<FormulaChartSpec> read_formula_chart(const toml::table& table, const std::string& file) {
  TomlTable toml(table, file, "[[formula_chart]]");
  FormulaChartSpec chart;
  chart.title = toml.required("title");
  chart.formula = toml.required("formula");
  for (const auto& [name, values] : toml.number_lists("arguments"))
    if (values.size() == 1) chart.arguments[name] = values[0];
  chart.log_x = toml.flag("log_x", false);
  chart.log_y = toml.flag("log_y", false);
  if (const auto drawn = formula_chart(chart); !drawn) toml.complain(drawn.error().message);
  SOTTO_TRY(toml.finish());
  return chart;
}

Expected<SlopeSpec> read_slope(const toml::table& table, const std::string& file) {
  TomlTable toml(table, file, "[[slope]]");
  SlopeSpec slope;
  slope.title = toml.required("title");
  slope.measure = toml.required("measure");
  slope.group = toml.required("group");
  slope.row = toml.required("row");
  if (toml.has("against")) slope.against = toml.word("against", kAxes);
  if (is_of_curves(slope.against)) toml.complain("'against' is x or epsilon.");
  slope.theory = toml.number("theory", 0);
  SOTTO_TRY(toml.finish());
  return slope;
}

Expected<void> read_words(const toml::table& table, StudySpec& spec, const std::string& file) {
  TomlTable words(table, file, "[words]");
  spec.notes = words.texts("notes");
  spec.instead = words.texts("instead");
  spec.traps = words.texts("traps");
  return words.finish();
}

}  // namespace

void merge(GivenOptions& options, const GivenOptions& more) {
  for (const auto& one : more) {
    const auto same = std::find_if(
        options.begin(), options.end(), [&](const auto& each) { return each.first == one.first; });
    if (same == options.end())
      options.push_back(one);
    else
      same->second = one.second;
  }
}

Expected<StudySpec> parse_spec(std::string_view text, const std::string& name) {
  SOTTO_ASSIGN(const toml::table whole, parse_toml(text, name));
  TomlTable toml(whole, name, "the file");
  StudySpec spec;
  spec.name = toml.required("name");
  spec.paper = toml.text("paper");
  spec.shows = toml.required("shows");
  spec.title = toml.required("title");
  spec.columns = toml.texts("columns");
  spec.runs = static_cast<int>(toml.integer("runs", 5));
  spec.quick_runs = static_cast<int>(toml.integer("quick_runs", 1));
  spec.curves = toml.flag("curves", false);
  spec.quick_rows = toml.integer("quick_rows", 0);
  spec.x_label = toml.text("x_label", "x");
  for (const double seed : toml.numbers("seeds"))
    spec.seeds.push_back(static_cast<std::uint64_t>(seed));
  spec.first_seed = static_cast<std::uint64_t>(toml.integer("first_seed", 0));
  spec.saddle_tolerance = toml.number("saddle_tolerance", 0);
  for (const auto& column : spec.columns)
    if (!find_measure(column)) toml.complain(fmt::format("there is no measure '{}'.", column));
  if (spec.runs < 1 || spec.quick_runs < 1) toml.complain("'runs' must be at least 1.");
  for (const char* measure : {"escaped", "first_passes"})
    if (std::count(spec.columns.begin(), spec.columns.end(), measure) > 0 &&
        !(spec.saddle_tolerance > 0))
      toml.complain(fmt::format("'{}' needs a 'saddle_tolerance' > 0.", measure));

  Defaults defaults{"1e-5", "logistic", "none", "replace-one", "none", "linear", ""};
  if (const toml::table* table = toml.table("settings")) {
    TomlTable settings(*table, name, "[settings]");
    defaults.delta = settings.text("delta", defaults.delta);
    defaults.loss = settings.text("loss", defaults.loss);
    defaults.regularizer = settings.text("regularizer", defaults.regularizer);
    defaults.neighbours = settings.text("neighbours", defaults.neighbours);
    defaults.constraint = settings.text("constraint", defaults.constraint);
    defaults.model = settings.text("model", defaults.model);
    defaults.data = settings.text("data");
    SOTTO_TRY(settings.finish());
  }
  if (const toml::table* sets = toml.table("data"))
    for (const auto& [key, node] : *sets)
      if (const auto* table = node.as_table()) {
        const std::string set(key.str());
        SOTTO_ASSIGN(spec.data[set], read_data(set, *table, name));
      }
  // Arms may use earlier ones only through cells: a flat library needs no order.
  Arms arms;
  if (const toml::table* all = toml.table("arm"))
    for (const auto& [key, node] : *all)
      if (const auto* table = node.as_table()) {
        SOTTO_ASSIGN(arms[std::string(key.str())], read_arm(*table, name, {}));
      }
  for (const toml::table* cell : toml.tables("cell"))
    SOTTO_TRY(read_cells(*cell, defaults, arms, spec, name));
  for (const toml::table* table : toml.tables("chart")) {
    SOTTO_ASSIGN(ChartSpec chart, read_chart(*table, name));
    spec.charts.push_back(std::move(chart));
  }
  for (const toml::table* table : toml.tables("formula_chart")) {
    SOTTO_ASSIGN(FormulaChartSpec chart, read_formula_chart(*table, name));
    spec.formula_charts.push_back(std::move(chart));
  }
  for (const toml::table* table : toml.tables("slope")) {
    SOTTO_ASSIGN(SlopeSpec slope, read_slope(*table, name));
    spec.slopes.push_back(std::move(slope));
  }
  if (const toml::table* table = toml.table("words")) SOTTO_TRY(read_words(*table, spec, name));
  if (spec.columns.empty() && !spec.cells.empty()) toml.complain("'columns' is missing.");
  SOTTO_TRY(toml.finish());
  if (spec.cells.empty() && spec.formula_charts.empty())
    return fail(ErrorKind::kBadData,
                fmt::format("{}: there is no [[cell]] and no [[formula_chart]].", name));
  return spec;
}

Expected<std::string> find_specs(const std::string& given, const std::string& program) {
  std::vector<fs::path> places;
  if (!given.empty()) {
    places = {given};
  } else {
    const fs::path folder = fs::path(program).parent_path();
    places = {folder / "../share/sotto/studies", folder / "../../studies", "studies"};
  }
  std::string looked;
  for (const auto& place : places) {
    std::error_code ignored;
    if (fs::exists(place / "papers.toml", ignored)) return fs::weakly_canonical(place).string();
    looked += (looked.empty() ? "" : ", ") + place.lexically_normal().string();
  }
  return fail(ErrorKind::kIo,
              fmt::format("the files of the reproductions were not found (looked for papers.toml "
                          "in {}). Name their folder with ‘specs DIR’.",
                          looked));
}

Expected<std::vector<StudySpec>> load_specs(const std::string& folder) {
  SOTTO_ASSIGN(const std::vector<PaperSpec> papers, load_papers(folder));
  std::vector<StudySpec> specs;
  for (const auto& paper : papers)
    for (const auto& name : paper.reproductions) {
      const std::string path = fmt::format("{}/{}.toml", folder, name);
      SOTTO_ASSIGN(const std::string text, read_text_file(path));
      SOTTO_ASSIGN(StudySpec spec, parse_spec(text, path));
      if (spec.name != name)
        return fail(
            ErrorKind::kBadData,
            fmt::format("{}: its name is '{}', but the file is {}.toml.", path, spec.name, name));
      specs.push_back(std::move(spec));
    }
  return specs;
}

const std::vector<MeasureInfo>& measures() {
  static const std::vector<MeasureInfo> all = {
      {"objective", "test objective", 4},
      {"train_objective", "training objective", 4},
      {"gap", "gap to the optimum", 4},
      {"gradient_norm", "gradient norm", 4},
      {"projected_norm", "projected gradient norm", 4},
      {"population_norm", "gradient norm on fresh rows", 4},
      {"frank_wolfe_gap", "Frank–Wolfe gap", 4},
      {"lambda_min", "least eigenvalue", 4},
      {"missed", "share that missed the tolerance", 2, /*spread=*/false},
      {"escaped", "share that escaped", 2, /*spread=*/false},
      {"first_passes", "passes until escape", 4},
      {"recovered", "relevant features found", 1},
      {"accuracy", "accuracy, %", 2},
      {"error", "test error, %", 2},
      {"passes", "passes", 1, /*spread=*/false},
      {"evaluations", "gradients / n", 1, /*spread=*/false},
      {"steps", "steps", 0, /*spread=*/false},
      {"seconds", "seconds", 3, /*spread=*/false},
      {"noise", "noise multiplier", 3, /*spread=*/false},
  };
  return all;
}

const MeasureInfo* find_measure(std::string_view name) {
  for (const auto& measure : measures())
    if (measure.name == name) return &measure;
  return nullptr;
}

}  // namespace sotto::study
