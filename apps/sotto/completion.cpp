#include "completion.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sotto/core/nearest.hpp"

namespace sotto::app {
namespace {

/// A verb, or the program itself, and how one gets there: "", "data", "data fetch".
struct Place {
  std::string path;
  const Verb* verb;
};

void add_places(const Verb& verb, const std::string& path, std::vector<Place>& places) {
  places.push_back({path, &verb});
  for (const auto& each : verb.subcommands())
    add_places(*each, path.empty() ? each->name() : path + " " + each->name(), places);
}

std::vector<Place> places_of(const Verb& program) {
  std::vector<Place> places;
  add_places(program, "", places);
  return places;
}

/// Verbs and arguments' words: what may stand without dashes.
std::vector<std::string> plain_words(const Verb& verb) {
  std::vector<std::string> words;
  for (const auto& each : verb.subcommands()) words.push_back(each->name());
  for (const auto& option : verb.described())
    if (option.is_argument()) words.insert(words.end(), option.words.begin(), option.words.end());
  return words;
}

std::string replaced(std::string text, char c, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(c, at)) != text.npos; at += by.size())
    text.replace(at, 1, by);
  return text;
}

/// The first line, or as much of it as fits beside a word.
std::string brief(const std::string& text) {
  constexpr std::size_t kMost = 90;
  std::string line = text.substr(0, std::min(text.find('\n'), text.size()));
  if (line.size() <= kMost) return line;
  return line.substr(0, line.rfind(' ', kMost)) + " ...";
}

std::string bash(const Verb& program) {
  std::string verbs, values, words;
  for (const auto& [path, verb] : places_of(program)) {
    for (const auto& each : verb->subcommands())
      verbs += fmt::format("      '{0}:{1}') verb='{2}' ;;\n",
                           path,
                           each->name(),
                           path.empty() ? each->name() : path + " " + each->name());
    std::vector<std::string> all = plain_words(*verb);
    for (const auto& option : verb->described()) {
      if (option.is_argument()) continue;
      all.insert(all.end(), option.names.begin(), option.names.end());
      if (option.type.empty()) continue;
      // A value without a list may be a file.
      std::vector<std::string> patterns;
      for (const auto& name : option.names) patterns.push_back(fmt::format("'{}:{}'", path, name));
      values += fmt::format("    {}) words='{}'; value=1 ;;\n",
                            fmt::join(patterns, "|"),
                            fmt::join(option.words, " "));
    }
    words += fmt::format("    '{}') words='{}' ;;\n", path, fmt::join(all, " "));
  }
  return fmt::format(R"(# bash completion for sotto, made by `sotto completion bash`
_sotto() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} verb='' value='' words='' word
  COMPREPLY=()
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$verb:$word" in
{}    esac
  done
  case "$verb:$prev" in
{}  esac
  [[ $value ]] || case "$verb" in
{}  esac
  # A word without dashes may also be a file: where nothing fits, bash completes it.
  [[ -z $cur && -z $value ]] && words=$(printf '%s\n' $words | grep -v '^-')
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}}
complete -o default -F _sotto sotto
)",
                     verbs,
                     values,
                     words);
}

std::string zsh(const Verb& program) {
  const auto quoted = [](const std::string& text) {
    return "'" + replaced(text, '\'', "'\\''") + "'";
  };
  const auto escaped = [](std::string text) {
    for (const char c : {'\\', '[', ']', ':'}) text = replaced(text, c, std::string("\\") + c);
    return text;
  };
  std::string functions;
  for (const auto& [path, verb] : places_of(program)) {
    std::string body;
    if (!verb->subcommands().empty()) {
      std::string list, cases;
      for (const auto& each : verb->subcommands()) {
        list += "    " + quoted(escaped(each->name()) + ":" + brief(each->description())) + "\n";
        cases += fmt::format("    {0}) shift words; (( CURRENT-- )); _sotto{1}_{0} ;;\n",
                             each->name(),
                             path.empty() ? "" : "_" + path);
      }
      body = fmt::format(
          "  local -a verbs=(\n{}  )\n  if (( CURRENT == 2 )); then\n    _describe verb verbs\n    "
          "return\n  fi\n  case $words[2] in\n{}  esac\n",
          list,
          cases);
    } else {
      body = "  _arguments";
      std::vector<std::string> arguments;
      for (const auto& option : verb->described()) {
        const std::string values =
            option.words.empty() ? "_files" : fmt::format("({})", fmt::join(option.words, " "));
        if (option.is_argument()) {
          arguments.push_back(fmt::format(":{}:{}", escaped(brief(option.help)), values));
          continue;
        }
        for (const auto& name : option.names)
          body += " \\\n    " + quoted(fmt::format("{}[{}]{}",
                                                   name,
                                                   escaped(brief(option.help)),
                                                   option.type.empty() ? "" : ":value:" + values));
      }
      // The last one may be several.
      for (std::size_t k = 0; k < arguments.size(); ++k)
        body += " \\\n    " +
                quoted((k + 1 < arguments.size() ? std::to_string(k + 1) : "*") + arguments[k]);
      body += "\n";
    }
    functions += fmt::format(
        "_sotto{}() {{\n{}}}\n", path.empty() ? "" : "_" + replaced(path, ' ', "_"), body);
  }
  return "#compdef sotto\n# zsh completion for sotto, made by `sotto completion zsh`\n" +
         functions +
         // As a file in a folder of functions, and when it is sourced.
         "if [ \"$funcstack[1]\" = _sotto ]; then _sotto \"$@\"; else compdef _sotto sotto; fi\n";
}

std::string fish(const Verb& program) {
  const auto quoted = [](const std::string& text) {
    return "'" + replaced(replaced(text, '\\', "\\\\"), '\'', "\\'") + "'";
  };
  std::string text = "# fish completion for sotto, made by `sotto completion fish`\n";
  for (const auto& [path, verb] : places_of(program)) {
    const std::string when = path.empty()
                                 ? "__fish_use_subcommand"
                                 : "__fish_seen_subcommand_from " +
                                       replaced(path, ' ', "; and __fish_seen_subcommand_from ");
    for (const auto& each : verb->subcommands())
      text += fmt::format("complete -c sotto -f -n {} -a {} -d {}\n",
                          quoted(when),
                          each->name(),
                          quoted(brief(each->description())));
    for (const auto& option : verb->described()) {
      std::string line = fmt::format("complete -c sotto -n {}", quoted(when));
      if (option.is_argument() && option.words.empty()) continue;
      if (!option.is_argument())
        for (const auto& name : option.names)
          line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.words.empty())
        line += fmt::format(" -x -a {}", quoted(fmt::format("{}", fmt::join(option.words, " "))));
      else if (!option.type.empty())
        line += " -r";
      text += line + " -d " + quoted(brief(option.help)) + "\n";
    }
  }
  return text;
}

}  // namespace

const std::vector<std::string>& completion_shells() {
  static const std::vector<std::string> shells = {"bash", "zsh", "fish"};
  return shells;
}

Expected<std::string> completion(const std::string& shell, const Verb& program) {
  if (shell == "bash") return bash(program);
  if (shell == "zsh") return zsh(program);
  if (shell == "fish") return fish(program);
  return fail(ErrorKind::kUsage,
              fmt::format("there is no completion for '{}'.{} Use bash, zsh or fish.",
                          shell,
                          did_you_mean(shell, completion_shells())));
}

}  // namespace sotto::app
