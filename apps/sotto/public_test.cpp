#include "public_test.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "sotto/data/sql/database_path.hpp"
#include "sotto/data/sql/source_tables.hpp"

namespace sotto::app {
namespace {

namespace fs = std::filesystem;

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
  return a == b || fs::equivalent(a, b, error) || inside(a, b) || inside(b, a);
}

tl::unexpected<Error> is_training(const std::string& tested, const std::string& trained) {
  return fail(ErrorKind::kUsage,
              fmt::format("--test {} is the training data, {}, or a part of it. Metrics on test "
                          "rows are exact numbers that no charge covers, so the rows must be "
                          "public: give other rows, or leave --test out. Two parts of a table "
                          "are named by two queries.",
                          tested,
                          trained));
}

}  // namespace

Expected<void> check_test_is_not_training(const DataArguments& data,
                                          const std::string& training,
                                          const std::string& test) {
  if (test.empty()) return {};
  if (is_database(training) && is_database(test)) {
    SOTTO_ASSIGN(const DatabasePath trained, parse_database_path(training));
    SOTTO_ASSIGN(const DatabasePath tested, parse_database_path(test));
    SOTTO_ASSIGN(const bool same, same_rows(trained, tested));
    if (same) return is_training(test, training);
    SOTTO_ASSIGN(const bool test_is_part, comes_from(tested, trained));
    SOTTO_ASSIGN(const bool training_is_part, comes_from(trained, tested));
    if (test_is_part || training_is_part) return is_training(test, training);
    // What two queries have in common, nobody can tell without reading them.
    return {};
  }
  for (const std::string& trained : data.files_of(training))
    for (const std::string& tested : data.files_of(test))
      if (overlap(trained, tested)) return is_training(tested, trained);
  return {};
}

}  // namespace sotto::app
