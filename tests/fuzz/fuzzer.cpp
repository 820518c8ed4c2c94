// libFuzzer's entry: SOTTO_FUZZ names the target (`./dev fuzz`).

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "sotto/core/parallel.hpp"
#include "tests/fuzz/targets.hpp"

namespace {

sotto::fuzz::Target chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* name = std::getenv("SOTTO_FUZZ");
  const auto& all = sotto::fuzz::targets();
  const auto found = all.find(name != nullptr ? name : "");
  if (found == all.end()) {
    std::fputs("SOTTO_FUZZ must name one of:", stderr);
    for (const auto& [each, unused] : all) std::fprintf(stderr, " %s", each.c_str());
    std::fputs("\n", stderr);
    std::exit(2);
  }
  chosen = found->second;
  sotto::set_thread_count(1);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  chosen({reinterpret_cast<const char*>(data), size});
  return 0;
}
