#include "public_test.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "sotto/data/sql/database_path.hpp"
#include "sotto/data/sql/sql_rows.hpp"

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
                          "public: give other rows, or leave --test out.",
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
    // What other tables and queries have in common, nobody can tell without reading them.
    bool same = trained.same_rows(tested);
    if (!same && !trained.is_file() && !tested.is_file()) {
      SOTTO_ASSIGN(same, same_in_postgres(trained, tested));
    }
    return same ? is_training(test, training) : Expected<void>();
  }
  for (const std::string& trained : data.files_of(training))
    for (const std::string& tested : data.files_of(test))
      if (overlap(trained, tested)) return is_training(tested, trained);
  return {};
}

}  // namespace sotto::app
