#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "data_options.hpp"
#include "exit_codes.hpp"
#include "name_list.hpp"
#include "printer.hpp"
#include "rows_for_model.hpp"
#include "sotto/core/file.hpp"
#include "sotto/core/paths.hpp"
#include "sotto/data/sql/database_path.hpp"
#include "sotto/data/sql/sql_rows.hpp"
#include "sotto/data/sql/table_output.hpp"
#include "sotto/model/model_json.hpp"
#include "sotto/task/metrics_sum.hpp"
#include "sotto/task/scoring.hpp"
#include "summary.hpp"
#include "verbs.hpp"

namespace sotto::app {
namespace {

struct PredictArguments {
  std::string data_path;
  std::string model_path;
  std::string output_path;
  DataArguments data;
  std::string keep;
  ScoreOptions scores;
  std::optional<std::int64_t> top;
  bool overwrite = false;
  bool json = false;

  /// Nothing is written yet. Before rows of the same database are opened, too.
  Expected<void> check_output() const {
    if (is_database(output_path)) {
      if (is_database(data_path)) SOTTO_TRY(check_other_rows());
      return check_table_writable(output_path, overwrite);
    }
    return to_standard_output() ? Expected<void>()
                                : check_writable(output_path, StreamTargets::kAllowed);
  }
  Expected<OutputFile> open_output() const {
    if (is_database(output_path)) return OutputFile::table(output_path, overwrite);
    return to_standard_output() ? OutputFile::standard_output()
                                : OutputFile::create(output_path, StreamTargets::kAllowed);
  }
  Expected<void> check_other_rows() const {
    SOTTO_ASSIGN(const DatabasePath from, parse_database_path(data_path));
    SOTTO_ASSIGN(const DatabasePath to, parse_database_path(output_path));
    bool same = from.same_rows(to);
    if (!same && overwrite && !from.is_file() && !to.is_file() && !to.table.empty()) {
      SOTTO_ASSIGN(same, reads_postgres_table(from, to));
    }
    if (!same) return {};
    return fail(
        ErrorKind::kUsage,
        fmt::format("the output would be written over the data: the rows come from {}. Name "
                    "another table.",
                    to.shown));
  }
  bool to_standard_output() const {
    return output_path == "-" || named_descriptor(output_path) == STDOUT_FILENO;
  }
};

void print_scored(const PredictArguments& arguments, const Scored& scored) {
  if (arguments.json) {
    auto json = scored.metrics ? to_json(*scored.metrics) : nlohmann::json::object();
    json["rows"] = scored.rows;
    if (scored.flagged) json["flagged"] = *scored.flagged;
    print_json(json);
  } else if (scored.metrics) {
    print_metrics(*scored.metrics, scored.class_names, "predict");
  }
  if (scored.flagged && !arguments.json)
    tell("flagged: {} of {} rows\n", *scored.flagged, scored.rows);
  if (scored.metrics) warn_of_classes(*scored.metrics, scored.class_names);
  if (!scored.metrics)
    say("note: how good the predictions are is not told: {}\n", scored.no_metrics);
  else if (scored.rows > MetricsSum::kMostRanked && scored.class_names.size() == 2)
    say("note: AUC is not told of more than {} rows: `sotto evaluate` has it, in more memory.\n",
        MetricsSum::kMostRanked);
}

Expected<int> predict(const PredictArguments& arguments) {
  SOTTO_TRY(arguments.check_output());
  SOTTO_ASSIGN(const Model model, load_model_for(arguments.model_path, arguments.data_path));
  SOTTO_ASSIGN(const auto family, family_of(model));
  ScoreOptions how = arguments.scores;
  if (arguments.top) {
    if (*arguments.top < 1)
      return fail(
          ErrorKind::kUsage,
          fmt::format("--top takes a number of rows, at least 1, but is {}.", *arguments.top));
    how.top = *arguments.top;
  }
  SOTTO_ASSIGN(LoadOptions options, arguments.data.load_options(arguments.data_path));
  options.keep = names_in(arguments.keep);
  SOTTO_ASSIGN(const auto rows, family->read_blocks(std::move(options)));
  for (const auto& note : rows->notes()) say("note: {}\n", note);
  SOTTO_ASSIGN(OutputFile output, arguments.open_output());
  SOTTO_ASSIGN(const Scored scored, score_rows(model, *family, *rows, how, output));
  SOTTO_TRY(output.commit());
  std::optional<ResultsOnStandardError> elsewhere;
  if (arguments.to_standard_output()) elsewhere.emplace();
  print_scored(arguments, scored);
  if (scored.metrics) warn_of_training_rows(model, scored.rows);
  return kSuccess;
}

void add_files(Verb& verb, PredictArguments& a) {
  a.data
      .add_rows(verb,
                "DATA",
                a.data_path,
                "rows in the format of the training data, labels or not; - is standard input, "
                "sqlite:FILE#TABLE a database")
      .required();
  verb.add_input("MODEL", a.model_path, "a model that `train` wrote").required();
  verb.writes(Verb::called("OUTPUT"), [&a] {
    if (is_database(a.output_path)) return a.data.files_written(a.output_path, a.data_path);
    return std::vector<std::string>{a.output_path == "-" ? "/dev/stdout" : a.output_path};
  });
  verb.add_word(
          "OUTPUT",
          a.output_path,
          "predictions as CSV, in the order of the rows; .gz is packed, - is standard output; "
          "or a new table of a database: sqlite:FILE#TABLE")
      .required();
}

void add_scores(Verb& verb, PredictArguments& a) {
  verb.add_word(
      "--keep", a.keep, "columns of a CSV file to copy to the output, such as an id: NAME,NAME");
  verb.add_flag("--proba", a.scores.probabilities, "write the probability of every class");
  verb.add_word("--class",
                a.scores.of_class,
                "the class whose probability sorts and flags; default: the second of two");
  verb.add_option("--threshold",
                  a.scores.threshold,
                  "add a column 'flagged': 1 if the probability (score, number) is at least this");
  verb.add_option("--flag-share",
                  a.scores.flag_share,
                  "the same for this share of the rows, those with the highest: 0.05");
  verb.add_flag("--sort", a.scores.sort, "the highest probability first");
  verb.add_option("--top", a.top, "only the first rows of those that --sort gives");
  verb.add_word(
      "--one-per",
      a.scores.one_per,
      "with --top: of rows with the same value in this kept column, a person's stays say, "
      "only the highest");
}

}  // namespace

Action add_predict(Verb& app) {
  auto* verb = app.add_subcommand(
      "predict", "apply a model to rows: a list with ids, probabilities and flags");
  auto arguments = std::make_shared<PredictArguments>();
  add_files(*verb, *arguments);
  add_scores(*verb, *arguments);
  verb->add_input("--schema", arguments->data.schema_path, "instead of the schema inside the model")
      .group("Data");
  verb->add_word(
          "--format", arguments->data.format, "auto, libsvm, csv, npy, idx, cifar10 or cifar100")
      .show_default()
      .group("Data");
  arguments->data.add_limits(*verb);
  verb->add_option("--sort-memory",
                   arguments->scores.sort_memory,
                   "bytes of memory for sorting, more goes to a file in $TMPDIR; default 256MB")
      .bytes()
      .group("Limits");
  verb->add_flag(
      "--overwrite", arguments->overwrite, "replace OUTPUT if it is a table that exists");
  verb->add_flag("--json", arguments->json, "print the metrics as one object");
  verb->footer(R"(
  sotto predict new.csv model.json risks.csv --keep encounter_id --top 100
  sotto predict new.csv model.json risks.csv --keep patient_nbr --top 100 --one-per patient_nbr
  sotto predict new.csv.gz model.json risks.csv.gz --keep encounter_id --flag-share 0.05
  zcat new.csv.gz | sotto predict - model.json - --proba
  sotto predict sqlite:hosp.db#stays model.json sqlite:hosp.db#risks --keep encounter_id --overwrite

The output has a header: the columns of --keep, or else 'row', then 'prediction' and, of classes, 'probability': of
the second of two classes (--class chooses another one), of the predicted one of more. Equal ones keep the file's
order. A CSV file needs neither label nor person column. Where there are labels, accuracy, AUC and confusion are
printed. These are exact: use rows that are public, or that you may look at anyway. docs/guide/predict.md has more.)");
  return [arguments] { return predict(*arguments); };
}

}  // namespace sotto::app
