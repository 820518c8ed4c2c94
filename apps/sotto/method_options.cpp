#include "method_options.hpp"

#include "sotto/core/option_names.hpp"
#include "sotto/optimizer/registry.hpp"

namespace sotto::app {
namespace {

std::string with_aliases(const std::string& name) {
  std::string text = flag_of(name);
  for (const std::string& alias : aliases_of(name)) text += "," + flag_of(alias);
  return text;
}

}  // namespace

void MethodArguments::add_to(Verb& verb) {
  verb.add_word("--method", name, "which method; `sotto methods` lists them").show_default();
  for (const auto& method : methods())
    for (const auto& option : method.options) {
      const auto [entry, is_new] = values_.try_emplace(option.name);
      if (!is_new) continue;
      verb.add_word(with_aliases(option.name), entry->second, option.meaning)
          .type_name(option.type)
          .group("Method");
    }
}

GivenOptions MethodArguments::given() const {
  GivenOptions given;
  for (const auto& [option, value] : values_)
    if (!value.empty()) given.emplace_back(option, value);
  return given;
}

}  // namespace sotto::app
