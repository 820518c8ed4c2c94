#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exit_codes.hpp"
#include "name_list.hpp"
#include "printer.hpp"
#include "schema_questions.hpp"
#include "sotto/core/file.hpp"
#include "sotto/data/dictionary.hpp"
#include "sotto/data/header_line.hpp"
#include "sotto/data/load.hpp"
#include "sotto/data/schema_draft.hpp"
#include "sotto/data/schema_reading.hpp"
#include "sotto/data/schema_remarks.hpp"
#include "sotto/data/sql/database_catalogue.hpp"
#include "sotto/data/sql/database_path.hpp"
#include "verbs.hpp"

namespace sotto::app {
namespace {

struct SchemaArguments {
  std::string schema_path;
  std::string output_path;
  std::string header_path;
  std::string dictionary_path;
  std::string table_path;
  std::string public_tables;  ///< with commas between
  std::string positive;       ///< with commas between
  DraftChoices choices;
  bool interactive = false;
  bool overwrite = false;
  bool json = false;
};

struct PublicSources {
  std::optional<HeaderLine> header;
  std::optional<std::vector<ColumnFacts>> dictionary;  ///< or what a database's catalogue says
};

/// What a dictionary says beside, of the columns that both know.
void add_facts(std::vector<ColumnFacts>& columns, const std::vector<ColumnFacts>& dictionary) {
  for (ColumnFacts& facts : columns)
    for (const ColumnFacts& each : dictionary) {
      if (each.name != facts.name) continue;
      if (facts.type == ColumnFacts::Type::kUnknown) facts.type = each.type;
      if (facts.values.empty()) facts.values = each.values;
      if (!facts.min) facts.min = each.min;
      if (!facts.max) facts.max = each.max;
      if (facts.comment.empty()) facts.comment = each.comment;
      if (facts.refers_to.empty()) facts.refers_to = each.refers_to;
      facts.nullable = facts.nullable && each.nullable;
      facts.key = facts.key || each.key;
    }
}

Expected<PublicSources> read_sources(const SchemaArguments& arguments) {
  PublicSources sources;
  if (!arguments.header_path.empty()) {
    SOTTO_ASSIGN(sources.header, read_header_line(arguments.header_path));
  }
  if (!arguments.dictionary_path.empty()) {
    SOTTO_ASSIGN(sources.dictionary, read_dictionary(arguments.dictionary_path));
  }
  if (arguments.table_path.empty()) {
    if (arguments.public_tables.empty()) return sources;
    return fail(ErrorKind::kUsage, "--public-table names a table of the database of --table.");
  }
  SOTTO_ASSIGN(std::vector<ColumnFacts> columns,
               read_catalogue(arguments.table_path, names_in(arguments.public_tables)));
  if (sources.dictionary) add_facts(columns, *sources.dictionary);
  sources.dictionary = std::move(columns);
  return sources;
}

template <class Place>
nlohmann::json told_at(const Place& place, const std::string& text) {
  return {{"line", place.line}, {"column", place.column}, {"text", text}};
}

Expected<int> check(const SchemaArguments& arguments) {
  SOTTO_ASSIGN(const std::string text, read_text_file(arguments.schema_path));
  SOTTO_ASSIGN(const PublicSources sources, read_sources(arguments));
  const SchemaReading reading = SchemaReading::of(text);
  std::vector<SchemaRemark> remarks;
  if (reading.mistakes.empty())
    remarks = remarks_on(reading,
                         {sources.dictionary ? &*sources.dictionary : nullptr,
                          sources.header ? &*sources.header : nullptr});
  const Schema& schema = reading.schema;
  if (arguments.json) {
    auto json = nlohmann::json{{"schema", arguments.schema_path},
                               {"mistakes", nlohmann::json::array()},
                               {"warnings", nlohmann::json::array()}};
    for (const auto& each : reading.mistakes) {
      json["mistakes"].push_back(told_at(each, each.text));
      json["mistakes"].back()["question"] = each.is_question;
    }
    for (const auto& each : remarks) json["warnings"].push_back(told_at(each.place, each.text));
    if (reading.mistakes.empty())
      json.update({{"columns", schema.columns.size()},
                   {"features", schema.feature_names().size()},
                   {"unit", schema.unit()},
                   {"row_norm_bound", schema.row_norm_bound(true)}});
    print_json(json);
  }
  if (!reading.mistakes.empty())
    return fail_with(reading.mistakes, arguments.schema_path, reading.mistakes.size());
  if (arguments.json) return kSuccess;
  for (const auto& each : remarks)
    tell("{}:{}:{}: warning: {}\n",
         arguments.schema_path,
         each.place.line,
         each.place.column,
         each.text);
  tell(
      "{}: a schema of {} columns: {} features, a row norm of at most {:.6g} with the intercept, "
      "and a guarantee for each {}; {}.\n",
      arguments.schema_path,
      schema.columns.size(),
      schema.feature_names().size(),
      schema.row_norm_bound(true),
      schema.has_units ? "person (" + schema.unit() + ")" : "row",
      remarks.empty()
          ? std::string("no warnings")
          : fmt::format("{} warning{}", remarks.size(), remarks.size() == 1 ? "" : "s"));
  return kSuccess;
}

/// A header's columns, with what the dictionary says of them; without a header the dictionary's.
std::vector<ColumnFacts> columns_of(PublicSources sources) {
  if (!sources.header) return sources.dictionary.value_or(std::vector<ColumnFacts>());
  std::vector<ColumnFacts> columns;
  for (const std::string& name : sources.header->names) {
    ColumnFacts facts;
    facts.name = name;
    if (sources.dictionary)
      for (const ColumnFacts& each : *sources.dictionary)
        if (each.name == name) facts = each;
    columns.push_back(std::move(facts));
  }
  return columns;
}

bool goes_to_standard_output(const std::string& path) { return path == "-"; }

Expected<void> check_free(const SchemaArguments& arguments) {
  if (goes_to_standard_output(arguments.output_path)) return {};
  SOTTO_ASSIGN(const bool there, file_exists(arguments.output_path));
  if (there && !arguments.overwrite)
    return fail(ErrorKind::kUsage,
                fmt::format("{} exists, and is kept. To replace it, give --overwrite; or name "
                            "another file.",
                            arguments.output_path));
  return check_writable(arguments.output_path);
}

Expected<int> draft(SchemaArguments arguments) {
  SOTTO_TRY(check_free(arguments));
  if (arguments.header_path.empty() && arguments.dictionary_path.empty() &&
      arguments.table_path.empty())
    return fail(ErrorKind::kUsage,
                "a draft needs columns: give --header FILE.csv, --dictionary FILE or --table "
                "sqlite:FILE#TABLE, also several.");
  if (arguments.interactive && arguments.header_path == "-")
    return fail(ErrorKind::kUsage,
                "--interactive reads answers from standard input, so that --header can't be there: "
                "name a file.");
  SOTTO_ASSIGN(PublicSources sources, read_sources(arguments));
  arguments.choices.positive = names_in(arguments.positive);
  if (sources.header) arguments.choices.separator = sources.header->separator;
  std::vector<ColumnFacts> columns = columns_of(std::move(sources));
  if (arguments.interactive) SOTTO_TRY(ask_about(columns, arguments.choices));
  SOTTO_ASSIGN(const std::string text, draft_schema(columns, arguments.choices));
  const int open = open_questions(text);
  const auto lines = std::count(text.begin(), text.end(), '\n');
  if (goes_to_standard_output(arguments.output_path)) {
    print_text(text);
  } else {
    SOTTO_TRY(write_file_atomically(arguments.output_path, text));
    tell("{} written: {} columns in {} lines, {} question{} left (TODO).{}\n",
         arguments.output_path,
         columns.size(),
         lines,
         open,
         open == 1 ? "" : "s",
         open == 0 ? ""
                   : fmt::format(" Answer {}, then run `sotto schema check {}`.",
                                 open == 1 ? "it" : "them",
                                 arguments.output_path));
  }
  return kSuccess;
}

void add_sources(Verb& verb, SchemaArguments& a) {
  verb.reads("--header", [&a] {
    return std::vector<std::string>{a.header_path == "-" ? "/dev/stdin" : a.header_path};
  });
  verb.add_word("--header",
                a.header_path,
                "a CSV file (also .gz) whose first line has the columns' names; no row is read");
  verb.add_input("--dictionary",
                 a.dictionary_path,
                 "what is known of the columns: CSV or TOML (docs/reference/schema.md)");
  verb.reads("--table", [&a] {
    LoadOptions options;
    options.path = a.table_path;
    return is_database(a.table_path) ? data_files(options) : std::vector<std::string>();
  });
  verb.add_word("--table",
                a.table_path,
                "a table, sqlite:FILE#TABLE or postgresql://…#TABLE: its catalogue, no row");
  verb.add_list("--public-table",
                a.public_tables,
                "a code table that a column refers to, whose rows are public: its codes are read");
}

}  // namespace

Action add_schema(Verb& app) {
  auto* verb = app.add_subcommand(
      "schema", "draft a schema for a CSV file or a table, and look for mistakes in one");
  verb->require_subcommand();
  auto a = std::make_shared<SchemaArguments>();
  auto* new_verb = verb->add_subcommand(
      "new", "draft a schema from a header, a dictionary or a catalogue, never from rows");
  new_verb->writes(Verb::called("SCHEMA"), [a] {
    return std::vector<std::string>{a->output_path == "-" ? "/dev/stdout" : a->output_path};
  });
  new_verb->add_word("SCHEMA", a->output_path, "the draft, in TOML; - is standard output")
      .required();
  add_sources(*new_verb, *a);
  new_verb->add_word("--label", a->choices.label, "the column that is to be predicted");
  new_verb->add_list("--positive", a->positive, "a spelling of the label's positive class");
  new_verb->add_word(
      "--person", a->choices.person, "the column that names the person, if one has several rows");
  new_verb->add_flag(
      "--interactive", a->interactive, "ask about what is not known, a line per column");
  new_verb->add_flag("--overwrite", a->overwrite, "replace SCHEMA if it exists");
  auto* check_verb =
      verb->add_subcommand("check", "list all mistakes of a schema, and what may be one");
  check_verb->add_input("SCHEMA", a->schema_path, "a schema in TOML").required();
  add_sources(*check_verb, *a);
  check_verb->add_flag("--json", a->json, "one object for machines");
  verb->footer(R"(
  sotto schema new --header rows.csv --label readmitted rows.toml
  sotto schema check --header rows.csv rows.toml)");
  new_verb->footer(R"(
Bounds and lists must be public, so none are taken from rows: what the sources do not say becomes a
question (TODO), which `train` refuses. What a name suggests is a comment beside it.

  sotto schema new --header rows.csv --label readmitted --person patient_nbr rows.toml
  sotto schema new --header rows.csv --dictionary codebook.csv rows.toml
  sotto schema new --header rows.csv --interactive rows.toml
  sotto schema new --table sqlite:hosp.db#stays --public-table diagnoses stays.toml)");
  check_verb->footer(R"(
Mistakes end with exit code 3; warnings do not. Nothing is read of rows: of --header the first line
alone.

  sotto schema check rows.toml
  sotto schema check --header rows.csv --dictionary codebook.csv rows.toml)");
  return [a, check_verb] { return check_verb->parsed() ? check(*a) : draft(*a); };
}

}  // namespace sotto::app
