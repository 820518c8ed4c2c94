#include "command_line.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "config_file.hpp"
#include "exit_codes.hpp"
#include "out_of_memory.hpp"
#include "printer.hpp"
#include "sotto/core/version.hpp"
#include "verbs.hpp"

namespace {

constexpr const char* kFooter = R"(
Start here:
  sotto demo                                   a private model in seconds, on data that Sotto makes
  sotto train --epsilon 1 --delta 1e-6 --dim 30 --row-norm 1 train.svm model.json
  sotto train --report run.html ...            a page for your privacy officer
  sotto methods                                what each method needs and guarantees
  sotto help train                             a verb's options, as `sotto train --help`

Exit codes: )";

std::vector<std::string> words;

}  // namespace

namespace sotto::app {

const std::vector<std::string>& command_words() { return words; }

namespace {

int run_verb(const std::vector<std::string>& arguments) {
  Verb app("Sotto trains models on sensitive data with differential privacy.", "sotto");
  app.add_version("--version", fmt::format("sotto {}", kVersion));
  app.footer(std::string(kFooter) + kExitCodes);
  app.require_subcommand();

  std::vector<std::pair<const Verb*, Action>> verbs;
  for (auto add : {add_train,
                   add_predict,
                   add_evaluate,
                   add_recalibrate,
                   add_show,
                   add_export,
                   add_account,
                   add_calibrate,
                   add_audit,
                   add_verify,
                   add_report,
                   add_methods,
                   add_data,
                   add_schema,
                   add_reproduce,
                   add_demo,
                   add_completion,
                   add_version,
                   add_help}) {
    Action action = add(app);
    verbs.emplace_back(app.subcommands().back().get(), std::move(action));
  }

  const auto expanded = with_config_file(arguments);
  if (!expanded) {
    say_error(expanded.error());
    return exit_code(expanded.error().kind);
  }
  words = expanded->arguments;
  // `sotto train help`
  if (words.size() > 1 && words.back() == "help" && app.find({words.begin(), words.end() - 1})) {
    words.pop_back();
    words.insert(words.begin(), "help");
  }
  app.reads("--config", [&] { return std::vector{expanded->path}; });
  if (const auto answer = app.parse(words)) {
    print_text(answer->output);
    say_text(answer->message);
    return answer->asked ? kSuccess : kUsage;
  }
  for (const auto& [verb, action] : verbs) {
    if (!verb->parsed()) continue;
    const auto fits = app.check_flags(expanded->flags).and_then([&] { return app.check_paths(); });
    const auto code = fits ? action() : tl::unexpected<Error>(fits.error());
    if (code) return *code;
    say_error(code.error());
    return exit_code(code.error().kind);
  }
  return kUsage;
}

}  // namespace

namespace {

int run_and_tell(const std::vector<std::string>& arguments) {
  try {
    return run_verb(arguments);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::system_error& error) {
    say("sotto: the system refuses: {}. With fewer --threads it may not. What was released until "
        "now is in the journal.\n",
        error.what());
    return kIoFailure;
  } catch (const std::exception& error) {
    say("sotto: internal error: {}\nThis is a bug in Sotto; nothing more was released. Please "
        "report it.\n",
        error.what());
    return kInternalError;
  }
}

}  // namespace

int run_command_line(const std::vector<std::string>& arguments) {
  int code = kIoFailure;
  try {
    code = run_and_tell(arguments);
  } catch (const std::bad_alloc&) {  // also where it ran out while something else was told
    tell_out_of_memory();
  }
  if (!flush_printed()) {
    say_to_terminal(
        "sotto: standard output can't be written; what was printed there is not complete.\n");
    if (code == kSuccess) code = kIoFailure;
  }
  return code;
}

}  // namespace sotto::app
