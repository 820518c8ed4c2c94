#include "verb.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <sstream>
#include <utility>

#include "printer.hpp"
#include "sotto/core/file_kind.hpp"

namespace sotto::app {

Option Option::group(const std::string& name) const { return Option(option_->group(name)); }

Option Option::type_name(const std::string& name) const { return Option(option_->type_name(name)); }

Option Option::show_default() const { return Option(option_->capture_default_str()); }

Option Option::required() const { return Option(option_->required()); }

Option Option::range(int low, int high) const {
  return Option(option_->check(CLI::Range(low, high)));
}

Option Option::bytes() const {
  return Option(
      option_->transform(CLI::AsSizeValue(/*kb_is_1000=*/false))->check(CLI::PositiveNumber));
}

Verb::Verb(const std::string& description, const std::string& name)
    : parser_(std::make_shared<CLI::App>(description, name)) {}

Verb* Verb::add_subcommand(const std::string& name, const std::string& description) {
  CLI::App* parser = parser_->add_subcommand(name, description);
  subcommands_.emplace_back(new Verb(parser_->get_subcommand_ptr(parser)));
  return subcommands_.back().get();
}

void Verb::require_subcommand() { parser_->require_subcommand(1); }

std::string Verb::called(const std::string& names) {
  std::string name = names.substr(0, names.find(','));
  if (name.starts_with("-")) return name;
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return "the " + name;
}

Option Verb::add_number(const std::string& names, Number variable, const std::string& help) {
  return std::visit(
      [&](auto* number) {
        CLI::Option* option = parser_->add_option(names, *number, help);
        // What is read as unsigned wraps around below zero.
        using T = std::remove_pointer_t<decltype(number)>;
        if constexpr (std::is_same_v<T, std::uint64_t> ||
                      std::is_same_v<T, std::optional<std::uint64_t>>)
          option->check([](const std::string& text) {
            return text.find('-') == std::string::npos ? ""
                                                       : text + " is negative: give 0 or more.";
          });
        return Option(option);
      },
      variable);
}

Option Verb::add_flag(const std::string& names, bool& variable, const std::string& help) {
  return Option(parser_->add_flag(names, variable, help));
}

void Verb::add_version(const std::string& names, const std::string& text) {
  parser_->set_version_flag(names, text);
}

Option Verb::add_word(const std::string& names, std::string& word, const std::string& help) {
  return Option(parser_->add_option(names, word, help));
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

void Verb::reads(const std::string& what, Paths paths) {
  read_.push_back({what, std::move(paths)});
}

void Verb::writes(const std::string& what, Paths paths) {
  written_.push_back({what, std::move(paths)});
}

std::optional<Verb::Answer> Verb::parse(const std::vector<std::string>& words) {
  parser_->failure_message([](const CLI::App* program, const CLI::Error& error) {
    const auto given = program->get_subcommands();
    return fmt::format("{0}: {1}\nRun `{0} {2}--help` for what there is.\n",
                       program->get_name(),
                       on_one_line(error.what()),
                       given.empty() ? std::string() : given.front()->get_name() + " ");
  });
  try {
    // CLI11 takes them in reverse order.
    parser_->parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    std::ostringstream output;
    std::ostringstream message;
    const bool asked = parser_->exit(error, output, message) == 0;
    return Answer{asked, output.str(), message.str()};
  }
  return std::nullopt;
}

bool Verb::parsed() const { return parser_->parsed(); }

std::vector<Verb::Value> Verb::values() const {
  std::vector<Value> values;
  for (const CLI::Option* option : std::as_const(*parser_).get_options()) {
    if (option->get_lnames().empty()) continue;
    const bool is_flag = option->get_items_expected() == 0;
    // `--bias=false` says what leaving it out says.
    const bool given = option->count() > 0 && (!is_flag || option->as<bool>());
    values.push_back({option->get_group(),
                      option->get_lnames().front(),
                      !given    ? option->get_default_str()
                      : is_flag ? "yes"
                                : option->results().front(),
                      given});
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
