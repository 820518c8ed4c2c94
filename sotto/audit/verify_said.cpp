// What a record must have, and what it says of the command that made it.

#include <fmt/format.h>

#include <cctype>
#include <limits>
#include <map>
#include <set>

#include "sotto/audit/record_checks.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/core/version.hpp"
#include "sotto/optimizer/registry.hpp"

namespace sotto {
namespace {

using nlohmann::json;

enum class Kind { kText, kFlag, kNumber, kPrice, kList };
struct Field {
  const char* name;
  Kind kind;
};

/// Beside those that verify_record can't do without.
constexpr Field kOfRecords[] = {{"version", Kind::kText},
                                {"method", Kind::kText},
                                {"loss", Kind::kText},
                                {"regularizer", Kind::kText},
                                {"stopped", Kind::kText},
                                {"epsilon_planned", Kind::kPrice},
                                {"planned_noise_samples", Kind::kNumber},
                                {"noise_multiplier", Kind::kNumber},
                                {"dimension", Kind::kNumber},
                                {"steps", Kind::kNumber},
                                {"passes", Kind::kNumber},
                                {"gradient_evaluations", Kind::kNumber},
                                {"insecure_seed", Kind::kFlag},
                                {"unsafe_diagnostics", Kind::kFlag},
                                {"settings", Kind::kList},
                                {"warnings", Kind::kList}};
constexpr Field kOfStatements[] = {{"private", Kind::kFlag},
                                   {"unit", Kind::kText},
                                   {"public_n", Kind::kNumber},
                                   {"insecure_seed", Kind::kFlag},
                                   {"unsafe_diagnostics", Kind::kFlag},
                                   {"test_declared_public", Kind::kFlag}};

bool has(const json& object, const Field& field) {
  const auto found = object.is_object() ? object.find(field.name) : object.end();
  if (!object.is_object() || found == object.end()) return false;
  switch (field.kind) {
    case Kind::kText:
      return found->is_string();
    case Kind::kFlag:
      return found->is_boolean();
    case Kind::kNumber:
      return found->is_number();
    case Kind::kPrice:  // null stands for infinity
      return found->is_number() || found->is_null();
    case Kind::kList:
      return found->is_array();
  }
  return false;
}

/// Names and values of options, as somebody typed them.
using Said = std::map<std::string, std::string>;

std::string option_name(std::string text) {
  std::replace(text.begin(), text.end(), '-', '_');
  if (text == "neighbors") return "neighbours";
  for (const char* option : {"clip_radius", "expected_batch"})
    for (const std::string& alias : aliases_of(option))
      if (text == alias) return option;
  return text;
}

/// A flag that is there may be turned off all the same: --flag=false. `train` has taken the other
/// words after --no-bias.
bool says_no(std::string value) {
  for (char& c : value) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return value == "false" || value == "off" || value == "no" || value == "0";
}

/// The options of `train` that take no value.
bool is_flag(const std::string& name) {
  static const std::set<std::string> kNames = {"bias",
                                               "no_bias",
                                               "no_refusals",
                                               "resume",
                                               "dry_run",
                                               "overwrite",
                                               "again",
                                               "unsafe_diagnostics",
                                               "json",
                                               "quiet"};
  return kNames.contains(name);
}

/// Of a flag's several values the last one counts; one that is taken back is as if left out. Only
/// the intercept is there unless it is taken back, which `no_bias` says.
void say_flag(Said& said, const std::string& name, const std::string& text) {
  const bool on = !says_no(text);
  if (name != "bias" && name != "no_bias") {
    said.erase(name);
    if (on) said[name] = text;
    return;
  }
  said.erase("bias");
  said.erase("no_bias");
  said[on == (name == "bias") ? "bias" : "no_bias"] = "";
}

Said said_by_command(const std::vector<std::string>& words, Checks& checks) {
  Said said;
  const auto add = [&](const std::string& name, const std::string& text) {
    // The one option that may be given several times.
    if (name == "class_weight" && said.contains(name)) {
      said[name] += "," + text;
      return;
    }
    const bool is_new = said.emplace(name, text).second;
    checks.require("command", is_new, "it has " + name + " twice");
  };
  for (std::size_t k = 1; k < words.size() && words[k] != "--"; ++k) {
    if (!words[k].starts_with("--")) continue;
    const std::size_t equals = std::min(words[k].find('='), words[k].size());
    const std::string name = option_name(words[k].substr(2, equals - 2));
    if (is_flag(name))
      say_flag(said, name, equals < words[k].size() ? words[k].substr(equals + 1) : "");
    else if (equals < words[k].size())
      add(name, words[k].substr(equals + 1));
    else
      add(name, k + 1 < words.size() && !words[k + 1].starts_with("--") ? words[k + 1] : "");
  }
  return said;
}

/// One source, the command or the options, against the claim.
class Comparison {
 public:
  Comparison(const char* source, const Said& said, Checks& checks)
      : source_(source), said_(said), checks_(checks) {}

  /// Both have it, and the same; or neither (`claimed`: none).
  void same_number(const char* name, std::optional<double> claimed) {
    const auto found = said_.find(name);
    if (found == said_.end()) return require(name, !claimed, "is not there");
    const auto number = typed_number(found->second);
    if (!number) return checks_.require(source_, false, fmt::format("its {} can't be read", name));
    require(name, claimed == number, "is " + found->second);
  }
  void same_number_if_said(const char* name, std::optional<double> claimed) {
    if (said_.contains(name)) same_number(name, claimed);
  }
  void same_text(const char* name, const std::optional<std::string>& claimed, const char* unsaid) {
    const auto found = said_.find(name);
    const std::string text = found == said_.end() ? unsaid : found->second;
    if (!text.empty()) require(name, claimed == text, "is " + text);
  }
  /// That it is given at all.
  void same_flag(const char* name, bool claimed) {
    const auto found = said_.find(name);
    const bool given = found != said_.end() && !says_no(found->second);
    require(name, given == claimed, given ? "is given" : "is not given");
  }

 private:
  void require(const char* name, bool holds, const std::string& what) {
    checks_.require(
        source_, holds, fmt::format("its {} {}, but the record says something else", name, what));
  }
  const char* source_;
  const Said& said_;
  Checks& checks_;
};

void compare_budget(const char* source,
                    const Said& said,
                    const json& record,
                    const json& statement,
                    Checks& checks) {
  Comparison with(source, said, checks);
  const auto budget = value<double>(record, "epsilon_budget");  // none: it is null, infinite
  with.same_number("epsilon", budget);
  with.same_number("noise_multiplier",
                   budget ? std::nullopt : value<double>(record, "noise_multiplier"));
  with.same_number("delta", value<double>(record, "delta"));
  with.same_number_if_said("public_n", value<double>(statement, "public_n"));
  with.same_text("neighbours", value<std::string>(record, "neighbours"), "zero-out");
  with.same_text("accountant", value<std::string>(statement, "accountant"), "");
}

/// What options have that nobody gave; null: they have none then.
const char* default_of(const std::string& option) {
  static const std::map<std::string, const char*> kDefaults = {{"neighbours", "zero-out"},
                                                               {"format", "auto"},
                                                               {"layout", "auto"},
                                                               {"bias", "yes"},
                                                               {"loss", "logistic"},
                                                               {"regularizer", "none"},
                                                               {"constraint", "none"},
                                                               {"initial_seed", "0"}};
  const auto found = kDefaults.find(option);
  return found == kDefaults.end() ? nullptr : found->second;
}

/// What was typed and what was read of it. `ours`: the defaults are those of this program.
void compare_options(const Said& command, const json& options, bool ours, Checks& checks) {
  std::set<std::string> listed;
  for (const json& each : options) {
    const auto name = value<std::string>(each, "name");
    const auto text = value<std::string>(each, "value");
    const auto origin = value<std::string>(each, "origin");
    if (!name || !text || !origin) {
      checks.require("options", false, "one has no name, value or origin");
      continue;
    }
    const std::string option = option_name(*name);
    checks.require("options", listed.insert(option).second, *name + " is there twice");
    checks.require(
        "options", *name != "bias" || *text == "yes", "their intercept is neither there nor not");
    const auto typed = command.find(option);
    const bool given = *origin == to_string(Origin::kGiven);
    checks.require(
        "options", given || *origin == "default", *name + " is neither given nor a default");
    const char* usual = default_of(option);
    checks.require(
        "options",
        given || !ours || (usual && *text == usual),
        fmt::format(
            "{} is {} (default), but its default is {}", *name, *text, usual ? usual : "none"));
    checks.require(
        "options",
        given == (typed != command.end()) &&
            (!given || (is_flag(option) ? *text == "yes" : typed->second == *text)),
        fmt::format("{} is {} ({}), which is not what the command says", *name, *text, *origin));
  }
}

/// Options of `train` that no record lists: they say where to write and how to run.
bool is_unrecorded(const std::string& name) {
  static const std::set<std::string> kNames = {
      "method",   "config",     "no_bias",     "record",   "report",
      "plot",     "checkpoint", "every",       "resume",   "overwrite",
      "again",    "test",       "seed",        "threads",  "unsafe_diagnostics",
      "json",     "quiet",      "journal_key", "max_file", "max_unpacked",
      "max_line", "max_field"};
  return kNames.contains(name);
}

/// The method's settings against what was typed; every word that was typed is one or the other.
void compare_settings(const Said& command,
                      const Said& options,
                      const json& settings,
                      Checks& checks) {
  Said listed;
  for (const json& each : settings) {
    const auto name = value<std::string>(each, "name");
    const auto text = value<std::string>(each, "value");
    const auto origin = value<std::string>(each, "origin");
    if (!name || !text || !origin) {
      checks.require("settings", false, "one has no name, value or origin");
      continue;
    }
    checks.require("settings", listed.emplace(*name, *text).second, *name + " is there twice");
    const auto typed = command.find(*name);
    const bool given = *origin == to_string(Origin::kGiven);
    checks.require(
        "settings",
        given || *origin == "default" || *origin == "rule" || origin->starts_with("rule: "),
        *name + " is neither given nor a default, nor does it follow from a rule");
    const auto number = typed == command.end() ? std::nullopt : number_in(typed->second);
    const bool agrees =
        typed == command.end() ? !given
        : typed->second == "auto"
            ? true
            : given && (typed->second == *text || (number && number == number_in(*text)));
    checks.require(
        "settings",
        agrees,
        fmt::format("{} is {} ({}), which is not what the command says", *name, *text, *origin));
  }
  for (const auto& [name, text] : command)
    checks.require("command",
                   listed.contains(name) || options.contains(name) || is_unrecorded(name) ||
                       text == "false",  // a flag that is taken back
                   fmt::format("it has {}, which the record does not list", name));
}

/// A linear model has an intercept unless the command takes it back. A network has no such option.
void compare_intercept(const Said& command,
                       const Said& options,
                       const json& record,
                       Checks& checks) {
  if (value<std::string>(record, "loss") == "network") return;
  const bool has_one = options.contains("bias");
  checks.require("options",
                 has_one != command.contains("no_bias"),
                 has_one ? "they have an intercept, which the command takes back"
                         : "they have no intercept, but the command does not take it back");
}

}  // namespace

void check_complete(const json& record, const json& statement, Checks& checks) {
  if (states_no_rule(statement)) return;
  const auto all = [&](const json& object, const auto& fields, const std::string& where) {
    for (const Field& field : fields)
      checks.require(where + field.name,
                     has(object, field),
                     "every record of its version has it, this has not");
  };
  all(record, kOfRecords, "");
  all(statement, kOfStatements, "privacy: ");
  // Only runs that started so have it; that it was not taken away, the command says.
  if (const auto most = value<json>(statement, "most_rows"))
    checks.require(
        "privacy: most_rows",
        most->is_number_integer() && *most > 0 && value<std::string>(statement, "unit") != "row",
        "it is no number of rows of a person");
  if (const auto start = value<json>(statement, "start_declared_public")) {
    checks.require("privacy: start_declared_public", start->is_boolean(), "it is no flag");
    if (*start == true)
      checks.flag("start",
                  "it started from weights that were declared public; if they were trained on the "
                  "same people, they are owed the sum of both");
  }
  if (!value<json>(statement, "journal"))
    checks.flag("journal", "the record names no run of a journal");
  if (const auto spending = value<json>(record, "spending"); !spending || !spending->is_array())
    checks.flag("spending", "it does not tell how its charges grew");
}

void check_known(const json& record, const json& statement, Checks& checks) {
  using Names = std::set<std::string>;
  static const Names kAll = {"sotto_run",
                             "version",
                             "versions",
                             "command",
                             "method",
                             "settings",
                             "options",
                             "private",
                             "private_if_seed_secret",
                             "epsilon_spent",
                             "epsilon_budget",
                             "epsilon_planned",
                             "epsilon_lower",
                             "delta",
                             "neighbours",
                             "privacy",
                             "plan",
                             "planned_noise_samples",
                             "lost",
                             "drawn",
                             "noise_multiplier",
                             "spending",
                             "trace",
                             "test",
                             "test_curve",
                             "class_names",
                             "certificate",
                             "gap_certificate",
                             "population_gradient",
                             "diagnostics",
                             "insecure_seed",
                             "unsafe_diagnostics",
                             "loss",
                             "network",
                             "regularizer",
                             "constraint",
                             "dimension",
                             "steps",
                             "passes",
                             "gradient_evaluations",
                             "stopped",
                             "warnings"};
  static const Names kOfVersion01 = {
      "finished", "load_seconds", "calibrate_seconds", "train_seconds"};
  static const Names kStated = {"private",
                                "private_if_seed_secret",
                                "epsilon",
                                "delta",
                                "neighbours",
                                "unit",
                                "most_rows",
                                "public_n",
                                "accountant",
                                "rule",
                                "events",
                                "noise_samples",
                                "insecure_seed",
                                "unsafe_diagnostics",
                                "test_declared_public",
                                "start_declared_public",
                                "journal"};
  // A later version may have more of them.
  const bool is_ours = value<std::string>(record, "version") == kVersion;
  const auto tell = [&](const std::string& where, const std::string& name) {
    const std::string what =
        fmt::format("{}{} is no member of a run record: nothing checks what it says",
                    where,
                    json(name).dump(-1, ' ', true, json::error_handler_t::replace));
    is_ours ? checks.require("unknown member", false, what) : checks.flag("unknown member", what);
  };
  for (const auto& [name, unused] : record.items())
    if (!kAll.contains(name) && !(states_no_rule(statement) && kOfVersion01.contains(name)))
      tell("", name);
  if (!statement.is_object()) return;
  for (const auto& [name, unused] : statement.items())
    if (!kStated.contains(name)) tell("privacy: ", name);
}

void check_said(const json& record, const json& statement, Checks& checks) {
  if (states_no_rule(statement)) return;
  const auto words = value<std::vector<std::string>>(record, "command");
  const auto options = value<json>(record, "options");
  if (!record.contains("command") && !record.contains("options"))
    return checks.flag("command", "it does not say by which command it was made");
  if (!words || words->empty() || !options || !options->is_array())
    return checks.require(
        "command", false, "it has one of command and options, or not as they are");
  checks.require("command", words->front() == "train", "it is not that of a training run");
  const Said typed = said_by_command(*words, checks);
  Said read;
  for (const json& each : *options)
    if (const auto name = value<std::string>(each, "name"))
      read[option_name(*name)] = value<std::string>(each, "value").value_or("");
  compare_budget("command", typed, record, statement, checks);
  compare_budget("options", read, record, statement, checks);
  const bool ours = value<std::string>(record, "version") == kVersion;
  compare_options(typed, *options, ours, checks);
  check_model_options(record, checks);
  if (const auto settings = value<json>(record, "settings"); settings && settings->is_array())
    compare_settings(typed, read, *settings, checks);
  compare_intercept(typed, read, record, checks);
  Comparison with("command", typed, checks);
  const auto flag = [](const json& object, const char* name) {
    return value<bool>(object, name).value_or(false);
  };
  // A seed of 0 is a seed.
  checks.require("command",
                 typed.contains("seed") == flag(record, "insecure_seed"),
                 typed.contains("seed")
                     ? "it gives a seed, but the record says that there is none"
                     : "it gives no seed, but the record says that there is one");
  with.same_flag("unsafe_diagnostics", flag(record, "unsafe_diagnostics"));
  checks.require("command",
                 typed.contains("test") == flag(statement, "test_declared_public"),
                 "it and the statement differ in whether there were test rows");
  const auto names = [](const Said& said, const char* name) {
    const auto found = said.find(name);
    return found != said.end() && !found->second.empty();
  };
  // A linear model starts from zero whatever is named.
  const bool starts = names(typed, "pretrained") && names(read, "model");
  checks.require("command",
                 starts == flag(statement, "start_declared_public"),
                 "it and the statement differ in whether the run started from weights that were "
                 "declared public");
  const auto most = typed.find("most_rows");
  checks.require("command",
                 value<std::int64_t>(statement, "most_rows") ==
                     (most == typed.end() ? std::nullopt : number_in<std::int64_t>(most->second)),
                 "it and the statement differ in how many rows of a person were used");
  if (const auto method = typed.find("method"); method != typed.end())
    checks.require("command",
                   value<std::string>(record, "method") == method->second,
                   "its method is " + method->second);
}

}  // namespace sotto
