#pragma once

// A database that a test fills, the same way whichever it is.

#include <memory>
#include <string>
#include <vector>

namespace sotto::testing {

class TestDatabase {
 public:
  TestDatabase() = default;
  TestDatabase(const TestDatabase&) = delete;
  TestDatabase& operator=(const TestDatabase&) = delete;
  virtual ~TestDatabase() = default;

  /// Statements; a failure fails the test.
  virtual void run(const std::string& sql) = 0;
  /// The fields of a query's rows, a line per row: text as it is, `NULL`, and a | between them.
  virtual std::vector<std::string> rows(const std::string& query) = 0;
  /// The path of a table or a query in it.
  virtual std::string path(const std::string& target) const = 0;
  /// The type of a column for these values.
  virtual std::string integer() const { return "integer"; }
  virtual std::string real() const { return "double precision"; }
  virtual std::string bytes() const = 0;
  /// An expression of the integer column `x` that fails where x is 50, and quotes what it holds in
  /// its message if it can.
  virtual std::string fails_at_50() const = 0;
};

std::unique_ptr<TestDatabase> sqlite_database(const std::string& file);
/// A database of its own in a server of the tests'; null, with the reason, where there is none.
std::unique_ptr<TestDatabase> postgres_database(std::string& why_not,
                                                const std::string& encoding = "UTF8");

}  // namespace sotto::testing
