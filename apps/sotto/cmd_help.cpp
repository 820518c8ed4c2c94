#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "completion.hpp"
#include "exit_codes.hpp"
#include "man_page.hpp"
#include "printer.hpp"
#include "sotto/core/file.hpp"
#include "sotto/optimizer/registry.hpp"
#include "verbs.hpp"

namespace sotto::app {
namespace {

Expected<void> write(const std::string& folder, const std::string& name, const std::string& text) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return fail(ErrorKind::kIo,
                fmt::format("can't make the folder {}: {}.", folder, error.message()));
  return write_file_atomically(folder + "/" + name, text);
}

Expected<void> write_pages(const Verb& verb, const std::string& folder) {
  SOTTO_TRY(write(folder, man_name(verb) + ".1", man_page(verb)));
  for (const auto& each : verb.subcommands()) SOTTO_TRY(write_pages(*each, folder));
  return {};
}

/// All that is installed beside the program.
Expected<void> write_all(const Verb& program, const std::string& share) {
  SOTTO_TRY(write_pages(program, share + "/man/man1"));
  const auto write_completion = [&](const char* shell, const char* place, const char* name) {
    return completion(shell, program).and_then([&](const std::string& script) {
      return write(share + "/" + place, name, script);
    });
  };
  SOTTO_TRY(write_completion("bash", "bash-completion/completions", "sotto"));
  SOTTO_TRY(write_completion("zsh", "zsh/site-functions", "_sotto"));
  return write_completion("fish", "fish/vendor_completions.d", "sotto.fish");
}

/// What `sotto VERB --method NAME --help` says.
Expected<int> help_with(Verb& app, std::vector<std::string> words, const std::string& method) {
  SOTTO_ASSIGN(const Verb* meant, app.find(words));
  const auto options = meant->described();
  if (std::none_of(options.begin(), options.end(), [](const Verb::Described& option) {
        return option.names.front() == "--method";
      }))
    return fail(ErrorKind::kUsage,
                fmt::format("{} has no option --method. Leave it out.", meant->path()));
  words.insert(words.end(), {"--method", method, "--help"});
  const auto answer = app.parse(words);
  if (!answer) return kInternalError;  // help is always an answer
  print_text(answer->output);
  say_text(answer->message);
  return answer->asked ? kSuccess : kUsage;
}

}  // namespace

Action add_help(Verb& app) {
  auto* verb = app.add_subcommand("help", "what a verb does, with its options");
  struct HelpArguments {
    std::vector<std::string> words;
    std::string method;
    bool man = false;
    std::string share;
  };
  auto arguments = std::make_shared<HelpArguments>();
  verb->add_words("VERB", arguments->words, "e.g. train, or data fetch");
  verb->add_word("--method", arguments->method, "with the options of this method");
  verb->add_flag("--man", arguments->man, "as a man page (troff), with the options of all methods");
  verb->add_folder("--share",
                   arguments->share,
                   "write all man pages and completions into this folder, as they are installed");
  std::vector<std::string> names;
  for (const auto& each : app.subcommands()) names.push_back(each->name());
  verb->offer("VERB", std::move(names));
  verb->footer(R"(
  sotto help data fetch
  sotto help train --method dp-sgd
  sotto help --man train | man -l -)");
  return [arguments, &app]() -> Expected<int> {
    if (!arguments->share.empty()) {
      SOTTO_TRY(write_all(app, arguments->share));
      return kSuccess;
    }
    if (!arguments->method.empty()) return help_with(app, arguments->words, arguments->method);
    const auto& words = arguments->words;
    if (words.size() == 1 && find_method(words[0]))
      return fail(
          ErrorKind::kUsage,
          fmt::format("{0} is a method, and no verb: `sotto methods {0}` describes it.", words[0]));
    SOTTO_ASSIGN(const Verb* meant, app.find(words));
    if (arguments->man) {
      print_text(man_page(*meant));
      return kSuccess;
    }
    SOTTO_ASSIGN(const std::string text, meant->help());
    print_text(text);
    return kSuccess;
  };
}

Action add_completion(Verb& app) {
  auto* verb = app.add_subcommand("completion", "a script that lets a shell complete commands");
  auto shell = std::make_shared<std::string>();
  verb->add_word("SHELL", *shell, "bash, zsh or fish").required();
  verb->offer("SHELL", completion_shells());
  verb->footer(R"(
For this session, and for all later ones:

  source <(sotto completion bash)
  sotto completion bash > ~/.local/share/bash-completion/completions/sotto
  sotto completion zsh > "${fpath[1]}/_sotto"
  sotto completion fish > ~/.config/fish/completions/sotto.fish)");
  return [shell, &app]() -> Expected<int> {
    SOTTO_ASSIGN(const std::string script, completion(*shell, app));
    print_text(script);
    return kSuccess;
  };
}

}  // namespace sotto::app
