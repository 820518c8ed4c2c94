#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "exit_codes.hpp"
#include "printer.hpp"
#include "sotto/core/processor.hpp"
#include "sotto/core/version.hpp"
#include "sotto/optimizer/registry.hpp"
#include "sotto/privacy/accountant.hpp"
#include "verbs.hpp"

namespace sotto::app {
namespace {

#ifdef __clang__
constexpr const char* kCompiler = "clang " __clang_version__;
#else
constexpr const char* kCompiler = "g++ " __VERSION__;
#endif

int print_version(bool json) {
  const bool avx2 = runs_x86_64_v3();
  std::vector<std::string> names;
  for (const Accountant* accountant : accountants()) names.emplace_back(accountant->name());
  if (json) {
    print_json(nlohmann::json({{"version", kVersion},
                               {"compiler", kCompiler},
                               {"build", SOTTO_BUILD_TYPE},
                               {"avx2", avx2},
                               {"accountants", names},
                               {"methods", methods().size()}}));
    return kSuccess;
  }
  tell("sotto {}\n", kVersion);
  tell("compiler     {}\n", kCompiler);
  tell("build        {}\n", SOTTO_BUILD_TYPE);
  tell("kernels      {}\n", avx2 ? "AVX2" : "baseline (no AVX2 here)");
  tell("accountants  {}\n", fmt::format("{}", fmt::join(names, ", ")));
  tell("methods      {} (`sotto methods` lists them)\n", methods().size());
  return kSuccess;
}

}  // namespace

Action add_version(Verb& app) {
  auto* verb = app.add_subcommand("version", "the version, and how this program was built");
  auto json = std::make_shared<bool>(false);
  verb->add_flag("--json", *json, "one object for machines");
  verb->footer(
      "\nPut it into a report of a mistake. `sotto --version` prints the first line alone.\n\n"
      "  sotto version --json");
  return [json]() -> Expected<int> { return print_version(*json); };
}

}  // namespace sotto::app
