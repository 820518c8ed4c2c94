#include "public_test.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

namespace sotto::app {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> parts_of(const std::string& paths) {
  std::vector<fs::path> parts;
  // A path may hold a comma itself.
  if (std::error_code ignored; fs::exists(paths, ignored)) return {paths};
  for (std::size_t begin = 0; begin <= paths.size();) {
    const std::size_t end = std::min(paths.find(',', begin), paths.size());
    parts.emplace_back(paths.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// The same file by device and inode, whatever the paths look like; or one of the files that are
/// read of a folder, which are all but the archives' own test files.
bool overlap(const fs::path& a, const fs::path& b) {
  const auto inside = [](const fs::path& folder, const fs::path& file) {
    std::error_code error;
    const fs::path real = fs::canonical(file, error);
    return !error && fs::is_directory(folder, error) && !fs::is_directory(real, error) &&
           fs::equivalent(folder, real.parent_path(), error) &&
           !real.filename().string().starts_with("test");
  };
  std::error_code error;
  return fs::equivalent(a, b, error) || inside(a, b) || inside(b, a);
}

}  // namespace

Expected<void> check_test_is_not_training(const std::string& training, const std::string& test) {
  if (test.empty()) return {};
  for (const fs::path& trained : parts_of(training))
    for (const fs::path& tested : parts_of(test))
      if (overlap(trained, tested))
        return fail(ErrorKind::kUsage,
                    fmt::format("--test {} is the training data, {}, or a part of it. Metrics on "
                                "test rows are exact numbers that no charge covers, so the rows "
                                "must be public: give other rows, or leave --test out.",
                                tested.string(),
                                trained.string()));
  return {};
}

}  // namespace sotto::app
