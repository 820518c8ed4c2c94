#include "config_file.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "sotto/core/file.hpp"
#include "sotto/core/option_names.hpp"
#include "sotto/core/toml.hpp"
#include "sotto/optimizer/option_table.hpp"

namespace sotto::app {
namespace {

constexpr const char* kConfig = "--config";
constexpr const char* kHelp = "--help";

bool names(const std::string& argument, const std::string& option) {
  return argument == option || argument.starts_with(option + "=");
}

/// The value as one would type it.
Expected<std::string> text_of(const toml::node& node, const std::string& key) {
  if (const auto flag = node.value_exact<bool>()) return fmt::format("{}", *flag);
  if (const auto whole = node.value_exact<std::int64_t>()) return fmt::format("{}", *whole);
  if (const auto real = node.value_exact<double>()) return fmt::format("{}", *real);
  // `--schema=` would take the next word.
  if (const auto text = node.value_exact<std::string>(); text && !text->empty()) return *text;
  return fail(
      ErrorKind::kUsage,
      fmt::format("{} must be a number, a text that is not empty, true or false.", flag_of(key)));
}

/// `flags` gets the options that are true or false.
Expected<std::vector<std::string>> options_in(const std::string& path,
                                              const std::vector<std::string>& given,
                                              std::vector<std::string>& flags) {
  SOTTO_ASSIGN(const std::string content, read_text_file(path));
  const auto table = read_toml(content, path);
  if (!table) return fail(ErrorKind::kUsage, table.error().told_of(path));
  std::vector<std::string> options;
  for (const auto& [key, node] : *table) {
    const std::string name(key.str());
    // Others would become arguments.
    if (name.empty() || std::isalpha(static_cast<unsigned char>(name.front())) == 0)
      return fail(ErrorKind::kUsage,
                  fmt::format("{} has a key that does not begin with a letter, as all options do. "
                              "Write NAME = VALUE.",
                              path));
    const std::string option = flag_of(name);
    if (names(option, kConfig))
      return fail(ErrorKind::kUsage,
                  fmt::format("{} names another configuration file, which would not be read: "
                              "‘config’ can't stand in one. Write all settings into one file.",
                              path));
    if (names(option, kHelp))
      return fail(ErrorKind::kUsage,
                  fmt::format("{} asks for help instead of a run: ‘help’ can't stand in a "
                              "configuration file. Take it out, and type --help.",
                              path));
    if (std::any_of(given.begin(), given.end(), [&](const auto& g) { return names(g, option); }))
      continue;
    SOTTO_ASSIGN(const std::string value, text_of(node, name));
    if (node.is_boolean()) flags.push_back(option);
    // As one word: what an option does not take must not become an argument.
    options.push_back(option + "=" + value);
  }
  return options;
}

}  // namespace

Expected<WithConfig> with_config_file(const std::vector<std::string>& arguments) {
  const auto at = std::find_if(
      arguments.begin(), arguments.end(), [](const auto& a) { return names(a, kConfig); });
  if (at == arguments.end() || at == arguments.begin()) return WithConfig{arguments, "", {}};
  const bool joined = *at != kConfig;
  if (!joined && at + 1 == arguments.end())
    return fail(ErrorKind::kUsage, "--config needs the path of a TOML file.");
  const std::string path = joined ? at->substr(std::string_view("--config=").size()) : *(at + 1);
  std::vector<std::string> rest(arguments.begin() + 1, at);
  rest.insert(rest.end(), at + (joined ? 1 : 2), arguments.end());
  if (std::any_of(rest.begin(), rest.end(), [](const auto& a) { return names(a, kConfig); }))
    return fail(ErrorKind::kUsage,
                "--config is given twice, but one file would be read. Write all settings into one "
                "file.");
  WithConfig result;
  SOTTO_ASSIGN(const std::vector<std::string> options, options_in(path, rest, result.flags));
  result.path = path;
  result.arguments = {arguments.front()};
  result.arguments.insert(result.arguments.end(), options.begin(), options.end());
  result.arguments.insert(result.arguments.end(), rest.begin(), rest.end());
  return result;
}

}  // namespace sotto::app
