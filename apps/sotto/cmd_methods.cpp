#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "exit_codes.hpp"
#include "printer.hpp"
#include "sotto/core/option_names.hpp"
#include "sotto/optimizer/registry.hpp"
#include "verbs.hpp"

namespace sotto::app {
namespace {

void print_table() {
  std::size_t name = 6;
  std::size_t summary = 12;
  std::size_t needs = 5;
  for (const auto& method : methods()) {
    name = std::max(name, method.name.size());
    summary = std::max(summary, method.summary.size());
    needs = std::max(needs, needs_text(method).size());
  }
  const auto row = [&](auto&& a, auto&& b, auto&& c, auto&& d) {
    tell("{:<{}}  {:<{}}  {:<{}}  {}\n", a, name, b, summary, c, needs, d);
  };
  row("method", "what it does", "needs", "guarantees");
  for (const auto& method : methods())
    row(method.name, method.summary, needs_text(method), method.guarantees);
  tell("\n`sotto methods NAME` prints a method's options.\n");
}

void print_method(const MethodInfo& method) {
  tell("{}: {}\n", method.name, method.summary);
  tell("needs {}; {}\n", needs_text(method), method.guarantees);
  if (!method.source.empty()) tell("source {} (docs/background/bibliography.md)\n", method.source);
  tell("page docs/reference/methods/{}.md\n\n", method.page);
  std::size_t width = 6;
  for (const auto& option : method.options) width = std::max(width, flag_of(option.name).size());
  tell("{:<{}}  {:<9} {:<9} {}\n", "option", width, "type", "default", "meaning");
  for (const auto& option : method.options) {
    const bool is_list = option.type.find('|') != std::string::npos;
    tell("{:<{}}  {:<9} {:<9} {}{}\n",
         flag_of(option.name),
         width,
         is_list ? "word" : option.type,
         option.default_value,
         option.meaning,
         is_list ? " (" + option.type + ")" : "");
  }
  tell(
      "\nauto: chosen from public facts (n, d, epsilon, delta, row norm); `train` says what it "
      "picked.\n");
}

nlohmann::json to_json(const MethodInfo& method) {
  nlohmann::json options = nlohmann::json::array();
  for (const auto& option : method.options)
    options.push_back({{"name", option.name},
                       {"type", option.type},
                       {"default", option.default_value},
                       {"meaning", option.meaning}});
  return {{"name", method.name},
          {"summary", method.summary},
          {"needs", needs_text(method)},
          {"guarantees", method.guarantees},
          {"private", method.is_private},
          {"source", method.source},
          {"options", options}};
}

}  // namespace

Action add_methods(Verb& app) {
  auto* verb = app.add_subcommand("methods", "list the methods, or describe one with its options");
  struct MethodsArguments {
    std::string name;
    bool json = false;
  };
  auto arguments = std::make_shared<MethodsArguments>();
  verb->add_word("NAME", arguments->name, "a method, e.g. dp-gd");
  verb->add_flag("--json", arguments->json, "for machines");
  std::vector<std::string> names;
  for (const auto& method : methods()) names.push_back(method.name);
  verb->offer("NAME", std::move(names));
  verb->footer(R"(
  sotto methods
  sotto methods dp-sgd          what it needs and guarantees, and its options
  sotto methods --json

Each method has a page in docs/reference/methods.)");
  return [arguments]() -> Expected<int> {
    if (arguments->name.empty()) {
      if (!arguments->json) {
        print_table();
        return kSuccess;
      }
      nlohmann::json all = nlohmann::json::array();
      for (const auto& method : methods()) all.push_back(to_json(method));
      print_json(all, 1);
      return kSuccess;
    }
    SOTTO_ASSIGN(const MethodInfo* method, find_method(arguments->name));
    if (arguments->json)
      print_json(to_json(*method), 1);
    else
      print_method(*method);
    return kSuccess;
  };
}

}  // namespace sotto::app
