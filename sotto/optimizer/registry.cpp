#include "sotto/optimizer/registry.hpp"

#include <fmt/format.h>

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
  std::string known;
  for (const auto& method : methods()) {
    if (method.name == name) return &method;
    known += (known.empty() ? "" : ", ") + method.name;
  }
  return fail(
      ErrorKind::kUsage,
      fmt::format(
          "unknown method '{}'. Known methods: {}. `sotto methods` describes them.", name, known));
}

std::vector<std::string> aliases_of(std::string_view option) {
  if (option == "clip_radius") return {"clip", "max_grad_norm"};
  if (option == "expected_batch") return {"batch"};
  return {};
}

}  // namespace sotto
