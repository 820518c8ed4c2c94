#include "verb.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <sstream>
#include <utility>

#include "printer.hpp"
#include "sotto/core/file_kind.hpp"
#include "sotto/core/nearest.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto::app {

Option Option::group(const std::string& name) const { return Option(option_->group(name)); }

Option Option::meaning(const std::string& help) const { return Option(option_->description(help)); }

Option Option::type_name(const std::string& name) const { return Option(option_->type_name(name)); }

Option Option::show_default() const { return Option(option_->capture_default_str()); }

Option Option::required() const { return Option(option_->required()); }

Option Option::range(int low, int high) const {
  return Option(option_->check(CLI::Range(low, high).description("")));
}

Option Option::bytes() const {
  return Option(option_
                    ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false).description(""))
                    // Put before the one above, which would let -1 wrap around.
                    ->transform(CLI::Validator(
                        [](const std::string& text) {
                          return text.starts_with('-') ? text + " is negative: give at least 1"
                                                       : std::string();
                        },
                        ""))
                    ->check([](const std::string& text) {
                      return text == "0" ? "0 bytes are none: give at least 1" : "";
                    })
                    ->type_name("BYTES"));
}

Verb::Verb(const std::string& description, const std::string& name)
    : parser_(std::make_shared<CLI::App>(description, name)) {}

Verb* Verb::add_subcommand(const std::string& name, const std::string& description) {
  CLI::App* parser = parser_->add_subcommand(name, description);
  parser->footer("");  // CLI11 hands down its parent's
  subcommands_.emplace_back(new Verb(parser_->get_subcommand_ptr(parser), this));
  return subcommands_.back().get();
}

void Verb::require_subcommand() { parser_->require_subcommand(1); }

std::string Verb::called(const std::string& names) {
  std::string name = names.substr(0, names.find(','));
  if (name.starts_with("-")) return name;
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return "the " + name;
}

namespace {

/// The number that an option's variable holds, if it holds one.
template <class T>
struct Plain {
  using Type = T;
};
template <class T>
struct Plain<std::optional<T>> {
  using Type = T;
};

}  // namespace

Option Verb::add_number(const std::string& names, Number variable, const std::string& help) {
  return std::visit(
      [&](auto* number) {
        CLI::Option* option = parser_->add_option(names, *number, help);
        // CLI11 makes the nearest number of one that is too large, and unsigned ones wrap around.
        using T = typename Plain<std::remove_pointer_t<decltype(number)>>::Type;
        if constexpr (std::is_integral_v<T>)
          option->check([](const std::string& text) -> std::string {
            if (number_in<T>(text)) return "";
            if (std::is_unsigned_v<T> && text.starts_with('-'))
              return text + " is negative: give 0 or more";
            return fmt::format("{} must be a whole number from {} to {}",
                               text,
                               std::numeric_limits<T>::min(),
                               std::numeric_limits<T>::max());
          });
        return Option(option);
      },
      variable);
}

Option Verb::add_flag(const std::string& names, bool& variable, const std::string& help) {
  CLI::Option* option = parser_->add_flag(names, variable, help);
  // CLI11 would take any number.
  option->check([](const std::string& text) -> std::string {
    return text == "true" || text == "false"
               ? ""
               : fmt::format("is a flag: it takes true or false, but is given '{}'", text);
  });
  return Option(option);
}

Option Verb::add_switch(const std::string& name, bool& variable, const std::string& help) {
  const Option option = add_flag(name + ",!--no-" + name.substr(2), variable, help);
  if (variable) option.option_->default_str("yes");
  return option;
}

void Verb::add_version(const std::string& names, const std::string& text) {
  parser_->set_version_flag(names, text);
}

Option Verb::add_word(const std::string& names, std::string& word, const std::string& help) {
  return Option(parser_->add_option(names, word, help));
}

namespace {

/// Of an option that may be given several times.
std::string with_commas(std::string joined) {
  std::replace(joined.begin(), joined.end(), '\n', ',');
  return joined;
}

}  // namespace

Option Verb::add_list(const std::string& names, std::string& list, const std::string& help) {
  // CLI11 would leave out empty items if it joined them by commas.
  CLI::Option* option = parser_->add_option_function<std::string>(
      names, [&list](const std::string& joined) { list = with_commas(joined); }, help);
  option->join();
  return Option(option);
}

Option Verb::add_words(const std::string& names,
                       std::vector<std::string>& words,
                       const std::string& help) {
  return Option(parser_->add_option(names, words, help));
}

Option Verb::add_input(const std::string& names, std::string& path, const std::string& help) {
  reads(called(names), [&path] { return std::vector{path}; });
  return add_word(names, path, help);
}

Option Verb::add_inputs(const std::string& names,
                        std::vector<std::string>& paths,
                        const std::string& help) {
  reads(called(names), [&paths] { return paths; });
  return add_words(names, paths, help);
}

Option Verb::add_output(const std::string& names, std::string& path, const std::string& help) {
  writes(called(names), [&path] { return std::vector{path}; });
  return add_word(names, path, help);
}

Option Verb::add_folder(const std::string& names, std::string& folder, const std::string& help) {
  return add_word(names, folder, help);
}

Option Verb::add_folders(const std::string& names,
                         std::vector<std::string>& folders,
                         const std::string& help) {
  return add_words(names, folders, help);
}

void Verb::footer(const std::string& text) { parser_->footer(text); }

void Verb::hint(const std::string& text) {
  parser_->footer([text] { return text; });
}

void Verb::reads(const std::string& what, Paths paths) {
  read_.push_back({what, std::move(paths)});
}

void Verb::writes(const std::string& what, Paths paths) {
  written_.push_back({what, std::move(paths)});
}

const Verb& Verb::given() const {
  for (const auto& verb : subcommands_)
    if (verb->parsed()) return verb->given();
  return *this;
}

Expected<const Verb*> Verb::find(const std::vector<std::string>& words) const {
  const Verb* verb = this;
  for (const std::string& word : words) {
    std::vector<std::string> known;
    const Verb* next = nullptr;
    for (const auto& each : verb->subcommands_) {
      known.push_back(each->name());
      if (known.back() == word) next = each.get();
    }
    if (known.empty())
      return fail(
          ErrorKind::kUsage,
          fmt::format("{} has no verbs of its own, but is given '{}'.", verb->spoken(), word));
    if (!next)
      return fail(ErrorKind::kUsage,
                  fmt::format("{} has no verb '{}'.{} It has {}.",
                              verb->spoken(),
                              word,
                              did_you_mean(word, known),
                              fmt::join(known, ", ")));
    verb = next;
  }
  return verb;
}

namespace {

/// Neither a negative number nor a word of dashes alone.
bool is_option(const std::string& word) {
  const std::size_t letter = word.find_first_not_of('-');
  return word.starts_with("-") && letter != word.npos && word[letter] != '.' &&
         std::isdigit(static_cast<unsigned char>(word[letter])) == 0;
}

/// Also by the names that options have in other programs.
std::optional<std::string> nearest_option(const std::string& name,
                                          const std::vector<std::string>& known) {
  static const std::map<std::string, std::string> kElsewhere = {{"batch-size", "expected-batch"},
                                                                {"batch", "expected-batch"},
                                                                {"epochs", "steps"},
                                                                {"iterations", "steps"},
                                                                {"learning-rate", "step-size"},
                                                                {"lr", "step-size"},
                                                                {"max-grad-norm", "clip-radius"},
                                                                {"sigma", "noise-multiplier"},
                                                                {"v", "version"},
                                                                {"V", "version"}};
  const auto found = kElsewhere.find(name);
  if (found != kElsewhere.end() &&
      std::find(known.begin(), known.end(), found->second) != known.end())
    return found->second;
  return nearest(name, known);
}

}  // namespace

Expected<void> Verb::check_values(const std::vector<std::string>& words) const {
  const CLI::App& parser = *given().parser_;
  for (std::size_t k = 0; k < words.size() && words[k] != "--"; ++k) {
    const std::string& word = words[k];
    if (!word.starts_with("--")) continue;
    // CLI11 goes on with the next word, whatever it is: --record= --dry-run would be a real run.
    if (word.find('=') == word.size() - 1)
      return fail(ErrorKind::kUsage,
                  fmt::format("{} has no value. Give one, or leave the option out.", word));
    const std::size_t equals = std::min(word.find('='), word.size());
    const CLI::Option* option = parser.get_option_no_throw(word.substr(0, equals));
    if (!option) continue;
    if (equals < word.size()) {
      // CLI11 would take more words after --no-bias than after other flags.
      const std::string value = word.substr(equals + 1);
      if (option->get_items_expected() == 0 && value != "true" && value != "false")
        return fail(ErrorKind::kUsage,
                    fmt::format("{} is a flag: it takes true or false, but is given '{}'",
                                word.substr(0, equals),
                                value));
      continue;
    }
    if (option->get_items_expected() == 0 || k + 1 == words.size()) continue;
    const std::string& value = words[++k];
    if (value.empty())
      return fail(ErrorKind::kUsage,
                  fmt::format("{} has an empty value. Give one, or leave the option out.", word));
    if (is_option(value))
      return fail(ErrorKind::kUsage,
                  fmt::format("{0} needs a value, but '{1}' follows, which looks like an option. "
                              "If it is the value, write {0}={1}.",
                              word,
                              value));
  }
  return {};
}

Expected<void> Verb::check_flags(const std::vector<std::string>& options) const {
  const CLI::App& parser = *given().parser_;
  for (const std::string& name : options) {
    const CLI::Option* option = parser.get_option_no_throw(name);
    if (option && option->get_items_expected() != 0)
      return fail(
          ErrorKind::kUsage,
          fmt::format("{} takes a value, but the configuration file says true or false.", name));
  }
  return {};
}

Error Verb::mistake(const std::vector<std::string>& words, const std::string& told) const {
  const Verb& verb = given();
  if (!verb.subcommands_.empty()) {
    // Whatever is no option is a verb: those above verbs take no values.
    const auto word = std::find_if(words.begin(), words.end(), [&](const std::string& each) {
      return !is_option(each) && each != verb.name();
    });
    if (word != words.end())
      if (const auto found = verb.find({*word}); !found) return found.error();
  }
  // Also where something else is missing: it may be what was mistyped.
  const std::vector<std::string> rest = parser_->remaining(/*recurse=*/true);
  const auto unknown = std::find_if(rest.begin(), rest.end(), is_option);
  if (unknown != rest.end()) {
    const std::string name = unknown->substr(0, unknown->find('='));
    std::vector<std::string> known;
    for (const CLI::Option* option : std::as_const(*verb.parser_).get_options())
      known.insert(known.end(), option->get_lnames().begin(), option->get_lnames().end());
    const auto near =
        nearest_option(name.substr(std::min(name.find_first_not_of('-'), name.size())), known);
    return {ErrorKind::kUsage,
            fmt::format("{} has no option {}.{}",
                        verb.spoken(),
                        name,
                        near ? fmt::format(" Did you mean --{}?", *near) : "")};
  }
  if (!rest.empty())
    return {ErrorKind::kUsage,
            fmt::format("{} takes no further argument, but is given '{}'.{}",
                        verb.spoken(),
                        rest[0],
                        verb.if_too_many_.empty() ? "" : " " + verb.if_too_many_)};
  if (verb.subcommands_.empty()) return {ErrorKind::kUsage, told};
  std::vector<std::string> known;
  for (const auto& each : verb.subcommands_) known.push_back(each->name());
  return {ErrorKind::kUsage,
          fmt::format("{} needs a verb: {}.", verb.spoken(), fmt::join(known, ", "))};
}

std::optional<std::string> Verb::needs() const {
  const Verb& verb = given();
  std::vector<std::string> missing;
  std::string places;
  for (const CLI::Option* option : std::as_const(*verb.parser_).get_options()) {
    if (!option->get_required()) continue;
    if (option->get_positional()) places += " " + option->get_name();
    if (option->count() == 0) missing.push_back(option->get_name());
  }
  if (missing.empty()) return std::nullopt;
  const std::string last = missing.back();
  missing.pop_back();
  return fmt::format("{} needs {}{}{}{}",
                     verb.spoken(),
                     fmt::join(missing, ", "),
                     missing.empty() ? "" : " and ",
                     last,
                     places.empty() ? "." : ": " + verb.path() + " [OPTIONS]" + places);
}

Verb::Answer Verb::refuse(const Error& error) const {
  return {false,
          "",
          fmt::format("{}: {}\nRun `{} --help` for what there is.\n",
                      name(),
                      on_one_line(error.message),
                      given().path())};
}

std::optional<Verb::Answer> Verb::parse(const std::vector<std::string>& words) {
  try {
    return parse_or_throw(words);
  } catch (const CLI::Error& error) {
    // What is wrong with a flag that nobody converted yet is only found when help is made:
    // --help=inf.
    return refuse({ErrorKind::kUsage, error.what()});
  }
}

std::optional<Verb::Answer> Verb::parse_or_throw(const std::vector<std::string>& words) {
  try {
    // CLI11 takes them in reverse order.
    parser_->parse(std::vector<std::string>(words.rbegin(), words.rend()));
    if (const auto complete = check_values(words); !complete) return refuse(complete.error());
  } catch (const CLI::CallForHelp&) {
    const auto text = given().help();
    return text ? Answer{true, *text, ""} : refuse(text.error());
  } catch (const CLI::CallForVersion& version) {
    return Answer{true, std::string(version.what()) + "\n", ""};
  } catch (const CLI::RequiredError& error) {
    return refuse(mistake(words, needs().value_or(error.what())));
  } catch (const CLI::ParseError& error) {
    return refuse(mistake(words, error.what()));
  }
  return std::nullopt;
}

std::string Verb::name() const { return parser_->get_name(); }

std::string Verb::path() const { return (parent_ ? parent_->path() + " " : "") + name(); }

std::string Verb::spoken() const {
  return parent_ && parent_->parent_ ? parent_->spoken() + " " + name() : name();
}

std::string Verb::description() const { return parser_->get_description(); }

std::string Verb::footer() const { return parser_->get_footer(); }

Expected<std::string> Verb::help() const {
  if (before_help_) SOTTO_TRY(before_help_());
  return parser_->get_formatter()->make_help(parser_.get(), path(), CLI::AppFormatMode::Normal);
}

std::vector<Verb::Described> Verb::described() const {
  std::vector<Described> all;
  for (const CLI::Option* option : std::as_const(*parser_).get_options()) {
    Described one;
    for (const auto& name : option->get_snames()) one.names.push_back("-" + name);
    for (const auto& name : option->get_lnames()) one.names.push_back("--" + name);
    if (one.names.empty()) one.names = {option->get_name()};
    if (option->get_items_expected() != 0) one.type = option->get_type_name();
    one.help = option->get_description();
    one.group = option->get_group();
    if (one.type.find('|') != std::string::npos) {
      std::istringstream words(one.type);
      for (std::string word; std::getline(words, word, '|');) one.words.push_back(word);
    }
    for (const auto& [name, words] : words_)
      if (std::find(one.names.begin(), one.names.end(), name) != one.names.end()) one.words = words;
    all.push_back(std::move(one));
  }
  return all;
}

bool Verb::parsed() const { return parser_->parsed(); }

std::vector<Verb::Value> Verb::values() const {
  std::vector<Value> values;
  for (const CLI::Option* option : std::as_const(*parser_).get_options()) {
    if (option->get_lnames().empty()) continue;
    const bool is_flag = option->get_items_expected() == 0;
    // `--overwrite=false` says what leaving it out says, and `--no-bias` that there is none.
    const bool typed = option->count() > 0;
    const bool taken_back = is_flag && typed && !option->as<bool>();
    const bool given = typed && !taken_back;
    values.push_back({option->get_group(),
                      option->get_lnames().front(),
                      taken_back ? ""
                      : !given   ? option->get_default_str()
                      : is_flag  ? "yes"
                      : option->get_multi_option_policy() == CLI::MultiOptionPolicy::Join
                          ? with_commas(option->reduced_results().front())
                          : option->reduced_results().front(),
                      given,
                      typed});
  }
  return values;
}

void Verb::collect(std::vector<NamedPath>& read, std::vector<NamedPath>& written) const {
  for (const auto& [what, paths] : read_)
    for (const std::string& path : paths()) read.push_back({what, path});
  for (const auto& [what, paths] : written_)
    for (const std::string& path : paths()) written.push_back({what, path});
  for (const auto& verb : subcommands_)
    if (verb->parsed()) verb->collect(read, written);
}

namespace {

/// What an output is, by the name that messages call it. A journal is only ever appended to.
FileKind kind_written(const std::string& what) {
  if (what == "the journal" || what == "--journal") return FileKind::kJournal;
  if (what == "the model") return FileKind::kModel;
  if (what == "--checkpoint") return FileKind::kCheckpoint;
  if (what == "--record") return FileKind::kRecord;
  return FileKind::kOther;
}

/// Refuses to replace what nothing can make again by anything but its own kind. AtomicFile looks
/// again when it replaces a file; here it costs nothing yet.
Expected<void> check_kept(const std::vector<NamedPath>& written) {
  for (const auto& [what, path] : written) {
    if (path.empty()) continue;
    SOTTO_ASSIGN(const FileKind there, kind_at(path));
    if (there == FileKind::kOther || there == kind_written(what)) continue;
    return fail(ErrorKind::kUsage,
                fmt::format("{} would replace {}, which is {}: {}. Choose another path.",
                            what,
                            path,
                            called(there),
                            worth_of(there)));
  }
  return {};
}

}  // namespace

Expected<void> Verb::check_paths() const {
  std::vector<NamedPath> read, written;
  collect(read, written);
  SOTTO_TRY(check_streams_elsewhere(read, written));
  SOTTO_TRY(check_paths_differ(read, written));
  return check_kept(written);
}

}  // namespace sotto::app
