// Rows of PostgreSQL.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "sotto/data/sql/postgres_connection.hpp"
#include "sotto/data/sql/sql_rows.hpp"

namespace sotto {
namespace {

constexpr Oid kBytes = 17;         // bytea
constexpr Oid kPaddedText = 1042;  // char(n)

/// Numbers and dates have one text, whatever the server is set to: numbers the shortest that is the
/// same number again. A table is read from its beginning.
constexpr std::array<const char*, 7> kBeforeReading = {
    "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY",
    "SET LOCAL extra_float_digits = 3",
    "SET LOCAL DateStyle = 'ISO, YMD'",
    "SET LOCAL IntervalStyle = 'postgres'",
    "SET LOCAL TimeZone = 'UTC'",
    "SET LOCAL synchronize_seqscans = off",
    "SET LOCAL cursor_tuple_fraction = 1",
};

/// Those in which every byte is a letter that UTF-8 has, and UTF-8 itself, which stays as it is, as
/// bytes of a database without an encoding do.
constexpr std::array<std::string_view, 16> kTotalEncodings = {"UTF8",
                                                              "SQL_ASCII",
                                                              "LATIN1",
                                                              "LATIN2",
                                                              "LATIN4",
                                                              "LATIN5",
                                                              "LATIN6",
                                                              "LATIN7",
                                                              "LATIN8",
                                                              "LATIN9",
                                                              "LATIN10",
                                                              "WIN1256",
                                                              "WIN866",
                                                              "KOI8R",
                                                              "KOI8U",
                                                              "ISO_8859_5"};

/// kUsage where one row's text could end the reading, as the server can't make it UTF-8.
Expected<void> check_encoding(const DatabasePath& path, const std::string& encoding) {
  if (std::find(kTotalEncodings.begin(), kTotalEncodings.end(), encoding) != kTotalEncodings.end())
    return {};
  return fail(ErrorKind::kUsage,
              fmt::format("{}: the database's encoding is {}, in which a row may hold bytes that "
                          "are no letter: it would end the reading, so ‘no_refusals’ is not kept. "
                          "Copy the table into a database in UTF8.",
                          path.shown,
                          encoding));
}

class PostgresRows final : public SqlRows {
 public:
  explicit PostgresRows(DatabasePath path) : path_(std::move(path)) {}

  Expected<void> open(bool any_content) {
    SOTTO_ASSIGN(connection_, connect_postgres(path_));
    PGconn* connection = connection_.get();
    for (const char* each : kBeforeReading)
      SOTTO_TRY(run_postgres(connection, path_, each, "the server refuses"));
    if (any_content) SOTTO_TRY(check_encoding(path_, postgres_encoding(connection)));
    SOTTO_TRY(declare_cursor(connection, path_));
    SOTTO_ASSIGN(const PostgresResult none,
                 run_postgres(connection, path_, "FETCH 0 FROM sotto_rows", "no rows can be read"));
    for (int k = 0; k < PQnfields(none.get()); ++k) {
      columns_.push_back({PQfname(none.get(), k), PQftype(none.get(), k) == kBytes});
      padded_.push_back(PQftype(none.get(), k) == kPaddedText);
    }
    // From here on a failure may quote a row. Rows come one by one, so that memory holds one.
    if (PQsendQueryParams(
            connection, "FETCH ALL FROM sotto_rows", 0, nullptr, nullptr, nullptr, nullptr, 0) ==
            0 ||
        PQsetSingleRowMode(connection) == 0)
      return postgres_failure(connection, nullptr, path_, true, kFailed);
    return {};
  }

  Expected<bool> next(std::span<std::string_view> values) override {
    if (!connection_) return false;
    SOTTO_ASSIGN(row_, next_result(connection_.get()));
    if (row_ && PQresultStatus(row_.get()) == PGRES_SINGLE_TUPLE) {
      for (std::size_t k = 0; k < columns_.size(); ++k) values[k] = value(k);
      return true;
    }
    if (!row_ || PQresultStatus(row_.get()) != PGRES_TUPLES_OK)
      return postgres_failure(connection_.get(), row_.get(), path_, true, kFailed);
    connection_.reset();  // with its transaction, which changed nothing
    return false;
  }

 private:
  static constexpr const char* kFailed = "the query failed while rows were read";

  std::string_view value(std::size_t k) const {
    const int column = static_cast<int>(k);
    if (PQgetisnull(row_.get(), 0, column) != 0 || columns_[k].binary) return {};
    std::string_view text(PQgetvalue(row_.get(), 0, column),
                          static_cast<std::size_t>(PQgetlength(row_.get(), 0, column)));
    // The blanks that fill char(n) are no part of the text.
    if (padded_[k])
      while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
  }

  DatabasePath path_;
  PostgresConnection connection_;
  PostgresResult row_;
  std::vector<bool> padded_;
};

}  // namespace

Expected<std::unique_ptr<SqlRows>> open_postgres(const DatabasePath& path, bool any_content) {
  auto rows = std::make_unique<PostgresRows>(path);
  SOTTO_TRY(rows->open(any_content));
  return rows;
}

}  // namespace sotto
