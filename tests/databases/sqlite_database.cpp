#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "tests/databases/database.hpp"

namespace sotto::testing {
namespace {

class Sqlite final : public TestDatabase {
 public:
  explicit Sqlite(const std::string& file) : file_(file) {
    EXPECT_EQ(sqlite3_open(file.c_str(), &database_), SQLITE_OK) << file;
  }
  ~Sqlite() override { sqlite3_close(database_); }

  void run(const std::string& sql) override {
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK)
        << sql << ": " << message;
    sqlite3_free(message);
  }

  std::vector<std::string> rows(const std::string& query) override {
    std::vector<std::string> result;
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(database_, query.c_str(), -1, &statement, nullptr), SQLITE_OK)
        << query << ": " << sqlite3_errmsg(database_);
    while (statement != nullptr && sqlite3_step(statement) == SQLITE_ROW) {
      std::string row;
      for (int k = 0; k < sqlite3_column_count(statement); ++k) {
        const bool real = sqlite3_column_type(statement, k) == SQLITE_FLOAT;
        const std::string number =
            real ? fmt::format("{}", sqlite3_column_double(statement, k)) : std::string();
        const auto* text = real ? number.c_str()
                                : reinterpret_cast<const char*>(sqlite3_column_text(statement, k));
        row += (k > 0 ? "|" : "") + std::string(text == nullptr ? "NULL" : text);
      }
      result.push_back(row);
    }
    sqlite3_finalize(statement);
    return result;
  }

  std::string path(const std::string& target) const override {
    return "sqlite:" + file_ + "#" + target;
  }
  std::string bytes() const override { return "blob"; }
  std::string fails_at_50() const override {
    return "abs(CASE WHEN x = 50 THEN -9223372036854775807 - 1 ELSE x END)";
  }

 private:
  std::string file_;
  sqlite3* database_ = nullptr;
};

}  // namespace

std::unique_ptr<TestDatabase> sqlite_database(const std::string& file) {
  return std::make_unique<Sqlite>(file);
}

}  // namespace sotto::testing
