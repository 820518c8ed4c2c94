#include "sotto/core/paths.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <sstream>

namespace sotto {
namespace {

namespace fs = std::filesystem;

std::vector<NamedPath> single(const std::vector<NamedPath>& paths) {
  std::vector<NamedPath> result;
  for (const auto& each : paths) {
    std::istringstream parts(each.path);
    for (std::string part; std::getline(parts, part, ',');)
      if (!part.empty()) result.push_back({each.what, part});
  }
  return result;
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  if (fs::equivalent(a, b, error)) return true;
  const fs::path first = fs::weakly_canonical(fs::absolute(a, error), error);
  const fs::path second = fs::weakly_canonical(fs::absolute(b, error), error);
  return !first.empty() && first == second;
}

}  // namespace

Expected<void> check_paths_differ(const std::vector<NamedPath>& read,
                                  const std::vector<NamedPath>& written) {
  const std::vector<NamedPath> inputs = single(read), outputs = single(written);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const NamedPath& output = outputs[k];
    for (const NamedPath& input : inputs)
      if (same_file(output.path, input.path))
        return fail(ErrorKind::kUsage,
                    fmt::format("{} would be written over {}: both are {}. Choose another path.",
                                output.what,
                                input.what,
                                output.path));
    for (std::size_t other = 0; other < k; ++other)
      if (same_file(output.path, outputs[other].path))
        return fail(ErrorKind::kUsage,
                    fmt::format("{} and {} would be the same file, {}. Choose different paths.",
                                outputs[other].what,
                                output.what,
                                output.path));
  }
  return {};
}

}  // namespace sotto
