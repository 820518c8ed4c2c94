#include "method_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sotto/core/option_names.hpp"
#include "sotto/optimizer/registry.hpp"

namespace sotto::app {
namespace {

std::string with_aliases(const std::string& name) {
  std::string text = flag_of(name);
  for (const std::string& alias : aliases_of(name)) text += "," + flag_of(alias);
  return text;
}

/// Lines of at most 100 letters.
std::string wrapped(const std::vector<std::string>& words) {
  constexpr std::size_t kWidth = 100;
  std::string text;
  std::size_t column = 0;
  for (const std::string& word : words) {
    const bool breaks = column + 1 + word.size() > kWidth;
    if (column > 0) text += breaks ? '\n' : ' ';
    column = (breaks || column == 0 ? 0 : column + 1) + word.size();
    text += word;
  }
  return text;
}

}  // namespace

void MethodArguments::add_to(Verb& verb) {
  verb.add_word("--method", name, "which method; `sotto methods` lists them").show_default();
  std::vector<std::string> names;
  for (const auto& method : methods()) {
    names.push_back(method.name);
    for (const auto& option : method.options) {
      const auto [entry, is_new] = entries_.try_emplace(option.name);
      if (!is_new) continue;
      entry->second.option =
          verb.add_word(with_aliases(option.name), entry->second.value, option.meaning)
              .type_name(option.type)
              .group("");
    }
  }
  verb.offer("--method", std::move(names));
  verb.before_help([this, &verb] { return show_options(verb); });
}

Expected<void> MethodArguments::show_options(Verb& verb) {
  SOTTO_ASSIGN(const MethodInfo* method, find_method(name));
  const std::vector<Verb::Value> values = verb.values();
  const bool chosen = std::any_of(values.begin(), values.end(), [](const Verb::Value& value) {
    return value.name == "method" && value.given;
  });
  if (!chosen) {
    std::vector<std::string> words = {method->name + ",", "the", "default", "method,", "has"};
    for (const auto& option : method->options)
      words.push_back(flag_of(option.name) + (&option == &method->options.back() ? "." : ","));
    verb.hint(fmt::format(
        "\n{}\n`{} --method NAME --help` explains a method's options, `sotto methods` the methods.",
        wrapped(words),
        verb.path()));
    return {};
  }
  for (const auto& option : method->options)
    entries_.at(option.name)
        .option->type_name(option.type)
        .meaning(fmt::format("{} (default {})", option.meaning, option.default_value))
        .group("Options of " + method->name);
  return {};
}

GivenOptions MethodArguments::given() const {
  GivenOptions given;
  for (const auto& [option, entry] : entries_)
    if (!entry.value.empty()) given.emplace_back(option, entry.value);
  return given;
}

}  // namespace sotto::app
