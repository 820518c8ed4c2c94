#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "data_fetch.hpp"
#include "data_options.hpp"
#include "exit_codes.hpp"
#include "printer.hpp"
#include "sotto/data/synthetic_linear.hpp"
#include "sotto/data/synthetic_phase.hpp"
#include "verbs.hpp"

namespace sotto::app {
namespace {

struct Made {
  std::string kind;
  std::int64_t rows = 10'000;
  std::int64_t dim = 100;
  std::uint64_t seed = 1;
  std::uint64_t part = 0;
};

struct TableArguments {
  Made made;
  std::string path;
  std::string output;
  DataArguments data;
  std::string labels = "auto";
  std::optional<std::int64_t> public_n;
  std::int64_t shown = 100;
  bool unsafe_diagnostics = false;
  bool json = false;
  PhaseRetrievalOptions phase;
};

/// `auto`: as the schema declares the label; of other formats two classes.
Expected<LabelKind> parse_labels(const std::string& text, const LoadOptions& options) {
  if (text == "binary" || (text == "auto" && !options.has_schema())) return LabelKind::kBinary;
  if (text == "multiclass") return LabelKind::kMulticlass;
  if (text == "real") return LabelKind::kReal;
  if (text != "auto")
    return fail(
        ErrorKind::kUsage,
        fmt::format("--labels must be auto, binary, multiclass or real, but is '{}'.", text));
  SOTTO_ASSIGN(const Schema schema, read_schema(options));
  switch (schema.label) {
    case Schema::Label::kClasses:
      return LabelKind::kMulticlass;
    case Schema::Label::kNumeric:
      return LabelKind::kReal;
    default:
      return LabelKind::kBinary;
  }
}

nlohmann::json to_json(const DataInfo& info) {
  nlohmann::json json = {{"path", info.path},
                         {"format", info.format},
                         {"units", info.units},
                         {"units_declared", info.units_declared},
                         {"unit", info.persons ? "person" : "row"},
                         {"dim", info.dim},
                         {"row_norm_bound", info.row_norm_bound},
                         {"classes", info.class_names},
                         {"features", info.feature_names},
                         {"notes", info.notes}};
  if (const auto& d = info.diagnostics)
    json["diagnostics"] = {{"file_bytes", d->file_bytes},
                           {"rows", d->rows},
                           {"largest_unit", d->largest_unit},
                           {"class_rows", d->class_rows},
                           {"label", {d->label_min, d->label_mean, d->label_max}},
                           {"norm", {d->norm_min, d->norm_mean, d->norm_max}},
                           {"density", d->density},
                           {"sparse", d->sparse},
                           {"table_bytes", d->table_bytes}};
  return json;
}

void print_info(const DataInfo& info) {
  tell("{}: {}\n", info.path, info.format);
  tell("units        {} {}{}\n",
       info.units,
       info.persons ? "persons" : "rows",
       info.units_declared ? " (declared)" : "");
  tell("features     {}\n", info.dim);
  if (info.row_norm_bound > 0)
    tell("row norm     at most {:.6g} (declared)\n", info.row_norm_bound);
  else
    tell("row norm     no bound declared; train needs --row-norm\n");
  if (!info.class_names.empty())
    tell("classes      {}\n", fmt::format("{}", fmt::join(info.class_names, ", ")));
  for (const auto& note : info.notes) tell("note         {}\n", note);
  if (const auto& d = info.diagnostics) {
    tell("NOT private, for your eyes only:\n");
    tell("file         {} bytes\n", d->file_bytes);
    tell("rows         {}, at most {} a unit\n", d->rows, d->largest_unit);
    if (!d->class_rows.empty())
      tell("by class     {}\n", fmt::format("{}", fmt::join(d->class_rows, ", ")));
    tell("norms        {:.4g} to {:.4g}, mean {:.4g}\n", d->norm_min, d->norm_max, d->norm_mean);
    tell("density      {:.3g}, {} table of {} bytes\n",
         d->density,
         d->sparse ? "sparse" : "dense",
         d->table_bytes);
  }
}

Expected<int> info(const TableArguments& arguments) {
  SOTTO_ASSIGN(LoadOptions options, arguments.data.load_options(arguments.path));
  SOTTO_ASSIGN(options.labels, parse_labels(arguments.labels, options));
  options.public_rows = arguments.unsafe_diagnostics;
  SOTTO_ASSIGN(const Dataset data, load_table(options));
  SOTTO_ASSIGN(const DataInfo facts,
               describe(options, data, arguments.public_n, arguments.unsafe_diagnostics));
  if (arguments.json)
    print_json(to_json(facts));
  else
    print_info(facts);
  return kSuccess;
}

/// The refusals alone, all of them: a file that passes here is not refused by `train` with the same
/// declarations.
Expected<int> check(const TableArguments& arguments) {
  if (arguments.data.no_refusals || arguments.shown < 1)
    return fail(ErrorKind::kUsage,
                "data check lists refusals: leave out --no-refusals, and --show must be positive.");
  SOTTO_ASSIGN(LoadOptions options, arguments.data.load_options(arguments.path));
  SOTTO_ASSIGN(options.labels, parse_labels(arguments.labels, options));
  options.shown_refusals = arguments.shown;
  SOTTO_TRY(load_table(options));
  tell("{}: every row fits what is declared.\n", arguments.path);
  return kSuccess;
}

Expected<int> convert(const TableArguments& arguments) {
  if (arguments.data.no_refusals)
    return fail(ErrorKind::kUsage,
                "the formats that data convert writes can't say that a record is empty: leave out "
                "--no-refusals.");
  SOTTO_ASSIGN(LoadOptions options, arguments.data.load_options(arguments.path));
  SOTTO_ASSIGN(options.labels, parse_labels(arguments.labels, options));
  options.public_rows = true;  // whoever converts rows holds them: all stays in the holder's files
  SOTTO_ASSIGN(const Dataset data, load_table(options));
  if (data.table.has_units())
    say("warning: the output has no column for persons: a guarantee for it would be per row, not "
        "per person.\n");
  SOTTO_TRY(write_table(arguments.output, data.table));
  tell("{} written. It holds the same private rows as {}.\n", arguments.output, arguments.path);
  return kSuccess;
}

Expected<int> make_phase(const TableArguments& arguments) {
  const PhaseRetrievalOptions& phase = arguments.phase;
  if (phase.rows < 1 || phase.dim < 1 || !(phase.label_bound > 0) || !(phase.noise >= 0))
    return fail(ErrorKind::kUsage,
                "--rows, --dim and --label-bound must be positive and --noise not negative.");
  SOTTO_TRY(write_table(arguments.output, make_phase_retrieval(phase).table));
  tell("{} written: nobody's data. Train with --loss phase-retrieval:{} --row-norm 1 --dim {}.\n",
       arguments.output,
       phase.label_bound,
       phase.dim);
  return kSuccess;
}

/// Public, made-up rows with a known truth.
Expected<int> make(const TableArguments& arguments) {
  const Made& m = arguments.made;
  if (m.rows < 1 || m.dim < 100 || m.rows * std::min<std::int64_t>(m.dim, 1000) > 20'000'000'000)
    return fail(ErrorKind::kUsage,
                fmt::format("data make needs --rows of at least 1 and --dim of at least 100, but "
                            "they are {} and {}.",
                            m.rows,
                            m.dim));
  LinearData data;
  if (m.kind == "linear")
    data = make_dense_linear(m.rows, m.dim, m.seed, m.part);
  else if (m.kind == "signs")
    data = make_sign_rows(m.rows, m.dim, 20, m.seed, m.part);
  else if (m.kind == "sparse")
    data = make_sparse_linear({m.rows, m.dim, 10, 0.3, 40, 1}, m.seed, m.part);
  else
    return fail(ErrorKind::kUsage,
                fmt::format("unknown kind of data '{}'. Known: linear, signs, sparse.", m.kind));
  SOTTO_TRY(write_table(arguments.output, data.table));
  tell("{} written: {} made-up rows, {} features", arguments.output, m.rows, m.dim);
  if (m.kind != "linear") {
    tell(", relevant (counted from 1)");
    for (std::size_t k = 0; k < data.relevant.size(); ++k)
      tell(" {}{}", data.weights[k] > 0 ? "+" : "-", data.relevant[k] + 1);
  }
  tell("\n");
  return kSuccess;
}

}  // namespace

Action add_data(Verb& app) {
  auto* verb = app.add_subcommand(
      "data", "look at a data file's public facts, check it, convert it, fetch public data sets");
  verb->require_subcommand();
  auto a = std::make_shared<TableArguments>();
  auto* info_verb =
      verb->add_subcommand("info", "public facts: format, units, features, declared bounds");
  auto* check_verb = verb->add_subcommand(
      "check", "list the rows that don't fit what is declared; for the data's holder");
  a->data.add_rows(*check_verb, "FILE", a->path, "as for train, with the same declarations")
      .required();
  check_verb->add_option("--show", a->shown, "how many are listed; all are counted").show_default();
  a->data
      .add_rows(*info_verb,
                "FILE",
                a->path,
                "LIBSVM, CSV or sqlite:FILE#TABLE with --schema, or a pair X.npy,y.npy; also .gz")
      .required();
  info_verb->add_option(
      "--public-n", a->public_n, "add-remove: show this declared number instead of the true one");
  info_verb->add_flag(
      "--unsafe-diagnostics", a->unsafe_diagnostics, "also what only the rows tell (not private)");
  info_verb->add_flag("--json", a->json, "one object for machines");
  auto* convert_verb =
      verb->add_subcommand("convert", "rewrite as LIBSVM, or as a pair X.npy,y.npy");
  a->data.add_rows(*convert_verb, "FILE", a->path, "input").required();
  add_table_output(*convert_verb, "OUTPUT", a->output, "a LIBSVM file, or X.npy,y.npy").required();
  auto* phase_verb = verb->add_subcommand(
      "phase-retrieval",
      "make a problem with a strict saddle at 0 (docs/reference/synthetic_data.md)");
  add_table_output(*phase_verb, "OUTPUT", a->output, "a LIBSVM file, or X.npy,y.npy").required();
  phase_verb->add_option("--rows", a->phase.rows, "rows").show_default();
  phase_verb->add_option("--dim", a->phase.dim, "features").show_default();
  phase_verb->add_option("--seed", a->phase.seed, "decides the truth and all rows").show_default();
  phase_verb->add_option("--part", a->phase.part, "0 for training, 1 for testing, …")
      .show_default();
  phase_verb->add_option("--noise", a->phase.noise, "standard deviation of the labels' noise")
      .show_default();
  phase_verb->add_option("--label-bound", a->phase.label_bound, "labels are clamped to [0, this]")
      .show_default();
  auto* make_verb = verb->add_subcommand(
      "make",
      "write made-up rows of a linear model with a known truth (docs/reference/synthetic_data.md)");
  make_verb->add_word("KIND", a->made.kind, "linear, signs or sparse").required();
  add_table_output(*make_verb, "OUTPUT", a->output, "a LIBSVM file, or X.npy,y.npy").required();
  make_verb->add_option("--rows", a->made.rows, "number of rows").show_default();
  make_verb->add_option("--dim", a->made.dim, "number of features").show_default();
  make_verb->add_option("--seed", a->made.seed, "decides everything").show_default();
  make_verb->add_option("--part", a->made.part, "other rows of the same truth, e.g. for testing")
      .show_default();
  a->data.bias = false;  // of a model
  for (auto* each : {info_verb, check_verb, convert_verb}) {
    each->add_word("--labels", a->labels, "auto (by the schema), binary, multiclass or real")
        .show_default();
    a->data.add_to(*each);
  }
  verb->footer(R"(
  sotto data info --schema adult.toml adult.data.gz      what everybody may know of the file
  sotto data check --schema adult.toml adult.data.gz     which rows `train` would refuse
  sotto data fetch a9a)");
  info_verb->footer(R"(
Only public facts: what is declared, and the number of units. A file is read as `train` reads it.

  sotto data info --dim 123 --row-norm 3.74 a9a.gz)");
  check_verb->footer(R"(
The list tells of rows: it is for whoever holds them. A file that passes is not refused by `train`.

  sotto data check --schema adult.toml adult.data.gz)");
  convert_verb->footer(R"(
The output holds the same private rows.

  sotto data convert --schema adult.toml adult.data.gz adult.svm
  sotto data convert --dim 123 a9a.gz X.npy,y.npy)");
  phase_verb->footer(R"(
  sotto data phase-retrieval --rows 20000 --dim 20 train.svm
  sotto data phase-retrieval --rows 20000 --dim 20 --part 1 test.svm)");
  make_verb->footer(R"(
  sotto data make sparse --rows 10000 --dim 1000 train.svm
  sotto data make sparse --rows 10000 --dim 1000 --part 1 test.svm)");
  make_verb->offer("KIND", {"linear", "signs", "sparse"});
  const Action fetch = add_data_fetch(*verb);
  const Verb* fetch_verb = verb->subcommands().back().get();
  return [a, info_verb, check_verb, make_verb, phase_verb, fetch_verb, fetch] {
    if (fetch_verb->parsed()) return fetch();
    if (phase_verb->parsed()) return make_phase(*a);
    if (make_verb->parsed()) return make(*a);
    if (check_verb->parsed()) return check(*a);
    return info_verb->parsed() ? info(*a) : convert(*a);
  };
}

}  // namespace sotto::app
