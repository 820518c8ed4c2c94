#include "sotto/optimizer/registry.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sotto/core/nearest.hpp"
#include "sotto/core/option_names.hpp"
#include "sotto/optimizer/first_order/methods.hpp"
#include "sotto/optimizer/frank_wolfe/methods.hpp"
#include "sotto/optimizer/proximal/methods.hpp"
#include "sotto/optimizer/second_order/methods.hpp"

namespace sotto {

const std::vector<MethodInfo>& methods() {
  static const std::vector<MethodInfo> all = [] {
    std::vector<MethodInfo> list;
    for (auto family : {gd_methods,
                        sgd_methods,
                        rrpsgd_methods,
                        srm_methods,
                        spiderboost_methods,
                        agd_methods,
                        adp_sgd_methods,
                        storm_methods,
                        trust_region_methods,
                        descent_search_methods,
                        newton_methods,
                        proximal_methods,
                        frank_wolfe_methods,
                        auto_methods})
      for (auto& method : family()) list.push_back(std::move(method));
    return list;
  }();
  return all;
}

std::string needs_text(const MethodInfo& method) {
  const std::string& more = method.needs_of_problem;
  return to_string(method.needs) + (more.empty() ? "" : "; " + more);
}

Expected<const MethodInfo*> find_method(std::string_view name) {
  std::vector<std::string> known;
  for (const auto& method : methods()) {
    if (method.name == name) return &method;
    known.push_back(method.name);
  }
  return fail(
      ErrorKind::kUsage,
      fmt::format("unknown method '{}'.{} Known methods: {}. `sotto methods` describes them.",
                  name,
                  did_you_mean(name, known),
                  fmt::join(known, ", ")));
}

namespace {

bool has_option(const MethodInfo& method, std::string_view name) {
  return std::any_of(method.options.begin(), method.options.end(), [&](const OptionInfo& option) {
    return option.name == name;
  });
}

}  // namespace

Expected<void> check_options(const MethodInfo& method, const GivenOptions& given) {
  for (const auto& [name, text] : given) {
    if (has_option(method, name)) continue;
    std::vector<std::string> known, marks, others;
    for (const OptionInfo& option : method.options) {
      known.push_back(option.name);
      marks.push_back(marked(option.name));
    }
    for (const MethodInfo& other : methods())
      if (has_option(other, name)) others.push_back(other.name);
    const auto near = others.empty() ? nearest(name, known) : std::nullopt;
    return fail(
        ErrorKind::kUsage,
        fmt::format("{} has no option {}.{}{} {} has {}.",
                    method.name,
                    marked(name),
                    near ? fmt::format(" Did you mean {}?", marked(*near)) : "",
                    others.empty() ? "" : fmt::format(" It is one of {}.", fmt::join(others, ", ")),
                    method.name,
                    fmt::join(marks, ", ")));
  }
  return {};
}

std::vector<std::string> aliases_of(std::string_view option) {
  if (option == "clip_radius") return {"clip", "max_grad_norm"};
  if (option == "expected_batch") return {"batch"};
  return {};
}

}  // namespace sotto
