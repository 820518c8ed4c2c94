// The one file that sees libpq. What a server says may hold a row's content from the moment that
// rows are asked for: from then on its words are not shown, and notices never are.

#include <arpa/inet.h>
#include <fmt/format.h>
#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <sstream>
#include <utility>

#include "sotto/core/stop.hpp"
#include "sotto/data/sql/sql_rows.hpp"

namespace sotto {
namespace {

constexpr int kConnectSeconds = 30;
constexpr int kLookMilliseconds = 500;  ///< between looks for a signal
constexpr std::size_t kSentBytes = std::size_t{1} << 18;
constexpr Oid kBytes = 17;         // bytea
constexpr Oid kPaddedText = 1042;  // char(n)

struct ClosePostgres {
  void operator()(PGconn* connection) const { PQfinish(connection); }
  void operator()(PGresult* result) const { PQclear(result); }
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
  void operator()(PGcancel* cancel) const { PQfreeCancel(cancel); }
};
using PostgresConnection = std::unique_ptr<PGconn, ClosePostgres>;
using PostgresResult = std::unique_ptr<PGresult, ClosePostgres>;

/// The first line of what libpq or a server says.
std::string first_line(const char* text) {
  const std::string_view all = text == nullptr ? "" : text;
  return std::string(all.substr(0, all.find('\n')));
}

/// Until the connection can be read, or written too; false: a signal asks for the end, or the time
/// is over.
bool wait_for(PGconn* connection, bool writing, int milliseconds = -1) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::milliseconds(milliseconds);
  for (;;) {
    if (stop_requested()) return false;
    pollfd file{PQsocket(connection), static_cast<short>(writing ? POLLIN | POLLOUT : POLLIN), 0};
    const int ready = ::poll(&file, 1, kLookMilliseconds);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return true;  // libpq finds out what is wrong
    if (milliseconds >= 0 && Clock::now() > end) return false;
  }
}

using PostgresOptions = std::map<std::string, std::string>;

/// What the connection goes by: the URI, a service file, the environment and libpq's defaults.
PostgresOptions options_in_use(PGconn* connection) {
  const std::unique_ptr<PQconninfoOption, ClosePostgres> all(PQconninfo(connection));
  PostgresOptions options;
  for (const PQconninfoOption* each = all.get(); each != nullptr && each->keyword != nullptr;
       ++each)
    if (each->val != nullptr && std::strcmp(each->keyword, "password") != 0)
      options[each->keyword] = each->val;
  return options;
}

/// A socket's folder, or an address that never leaves this machine. Other names may lead anywhere.
bool is_local_host(const std::string& host) {
  if (host.empty() || host.front() == '/' || host.front() == '@') return true;
  in_addr address{};
  if (::inet_pton(AF_INET, host.c_str(), &address) == 1) return ntohl(address.s_addr) >> 24 == 127;
  return host == "localhost" || host == "::1";
}

/// Hosts may be several, with commas between them, by name and by address.
bool is_local(const PostgresOptions& options) {
  for (const char* key : {"host", "hostaddr"}) {
    const auto found = options.find(key);
    if (found == options.end()) continue;
    std::istringstream hosts(found->second);
    for (std::string host; std::getline(hosts, host, ',');)
      if (!is_local_host(host)) return false;
  }
  return true;
}

PostgresConnection start_postgres(const DatabasePath& path, bool verified) {
  std::vector<const char*> names = {"dbname", "client_encoding", "fallback_application_name"};
  std::vector<const char*> values = {path.place.c_str(), "UTF8", "sotto"};
  if (verified) {
    names.insert(names.end(), {"sslmode", "gssencmode"});
    values.insert(values.end(), {"verify-full", "disable"});
  }
  names.push_back(nullptr);
  values.push_back(nullptr);
  return PostgresConnection(PQconnectStartParams(names.data(), values.data(), 1));
}

/// Nothing is said to a server yet. Rows and passwords cross a network only to a server that has
/// proved who it is.
Expected<PostgresConnection> start_safely(const DatabasePath& path) {
  const auto refused = [&](const PostgresConnection& connection) -> Expected<void> {
    if (!connection) throw std::bad_alloc();
    if (PQstatus(connection.get()) != CONNECTION_BAD || PQsocket(connection.get()) >= 0) return {};
    return fail(ErrorKind::kIo,
                fmt::format("{}: can't connect: {}. Check the URI and that the server runs.",
                            path.shown,
                            first_line(PQerrorMessage(connection.get()))));
  };
  PostgresConnection connection = start_postgres(path, false);
  PostgresOptions options = options_in_use(connection.get());
  if (is_local(options)) {
    SOTTO_TRY(refused(connection));
    return connection;
  }
  const std::string mode = options["sslmode"];
  if (mode == "verify-full" || mode == "verify-ca") {
    SOTTO_TRY(refused(connection));
    return connection;
  }
  if (mode != "prefer" && !mode.empty())
    return fail(ErrorKind::kUsage,
                fmt::format("{}: rows of a server on another machine are read only where its "
                            "certificate is verified, but sslmode is {}. Leave it out (it is "
                            "verify-full then), or give verify-full or verify-ca, and the "
                            "authority's certificate as sslrootcert=FILE.",
                            path.shown,
                            mode));
  connection = start_postgres(path, true);
  SOTTO_TRY(refused(connection));
  return connection;
}

Expected<PostgresConnection> connect_postgres(const DatabasePath& path) {
  SOTTO_ASSIGN(PostgresConnection connection, start_safely(path));
  PGconn* raw = connection.get();
  PQsetNoticeReceiver(
      raw, [](void*, const PGresult*) {}, nullptr);
  for (PostgresPollingStatusType state = PGRES_POLLING_WRITING; state != PGRES_POLLING_OK;
       state = PQconnectPoll(raw)) {
    const bool failed = state == PGRES_POLLING_FAILED;
    if (!failed && wait_for(raw, state == PGRES_POLLING_WRITING, kConnectSeconds * 1000)) continue;
    if (stop_requested()) return stopped_early();
    return fail(ErrorKind::kIo,
                fmt::format("{}: can't connect: {}. Check the URI, that the server runs, and the "
                            "password in ~/.pgpass or PGPASSWORD.",
                            path.shown,
                            failed ? first_line(PQerrorMessage(raw))
                                   : fmt::format("no answer in {} seconds", kConnectSeconds)));
  }
  return connection;
}

/// The next result of what was sent; null: there is no other. On a signal the server is told to
/// give up.
Expected<PostgresResult> next_result(PGconn* connection) {
  while (PQisBusy(connection) != 0) {
    if (!wait_for(connection, false)) {
      const std::unique_ptr<PGcancel, ClosePostgres> cancel(PQgetCancel(connection));
      std::array<char, 256> ignored{};
      PQcancel(cancel.get(), ignored.data(), ignored.size());
      return stopped_early();
    }
    if (PQconsumeInput(connection) == 0) break;  // the connection is lost, as the result says
  }
  return PostgresResult(PQgetResult(connection));
}

bool succeeded(const PGresult* result) {
  const ExecStatusType status = PQresultStatus(result);
  return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_COPY_IN;
}

tl::unexpected<Error> postgres_failure(PGconn* connection,
                                       const PGresult* result,
                                       const DatabasePath& path,
                                       bool may_quote,
                                       const char* what) {
  const char* field = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const std::string state = field == nullptr ? "" : field;
  // 57P: the server ends; 57014: the query was cancelled.
  if (state.empty() || state.starts_with("08") || state.starts_with("57P") ||
      PQstatus(connection) == CONNECTION_BAD)
    return fail(ErrorKind::kIo,
                fmt::format("{}: {}: the connection to the server was lost. Nothing was kept: "
                            "start again.",
                            path.shown,
                            what));
  if (state.starts_with("53") || state.starts_with("55") || state.starts_with("58") ||
      state.starts_with("40") || state == "57014")
    return fail(ErrorKind::kIo,
                fmt::format("{}: {}: the server can't do it now (SQLSTATE {}). Nothing was kept: "
                            "try again.",
                            path.shown,
                            what,
                            state));
  if (may_quote)
    return fail(ErrorKind::kBadData,
                fmt::format("{}: {} (SQLSTATE {}). What the server says may hold a row's content "
                            "and is not shown: its log has it.",
                            path.shown,
                            what,
                            state));
  if (state == "25006")
    return fail(ErrorKind::kUsage,
                fmt::format("{}: the query does more than read. Give one SELECT.", path.shown));
  return fail(ErrorKind::kUsage,
              fmt::format("{}: {}: {} (SQLSTATE {}). Check the names and the query.",
                          path.shown,
                          what,
                          first_line(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY)),
                          state));
}

/// One statement, which is all that the extended protocol takes. `may_quote`: what the server says
/// of a failure is not shown.
Expected<PostgresResult> run_postgres(PGconn* connection,
                                      const DatabasePath& path,
                                      const std::string& sql,
                                      const char* what,
                                      bool may_quote = false,
                                      const char* argument = nullptr) {
  const int arguments = argument == nullptr ? 0 : 1;
  if (PQsendQueryParams(
          connection, sql.c_str(), arguments, nullptr, &argument, nullptr, nullptr, 0) == 0)
    return postgres_failure(connection, nullptr, path, may_quote, what);
  SOTTO_ASSIGN(PostgresResult result, next_result(connection));
  if (!succeeded(result.get()))
    return postgres_failure(connection, result.get(), path, may_quote, what);
  if (PQresultStatus(result.get()) == PGRES_COPY_IN) return result;
  for (;;) {
    SOTTO_ASSIGN(const PostgresResult more, next_result(connection));
    if (!more) return result;
  }
}

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

class PostgresRows final : public SqlRows {
 public:
  explicit PostgresRows(DatabasePath path) : path_(std::move(path)) {}

  Expected<void> open() {
    SOTTO_ASSIGN(connection_, connect_postgres(path_));
    PGconn* connection = connection_.get();
    for (const char* each : kBeforeReading)
      SOTTO_TRY(run_postgres(connection, path_, each, "the server refuses"));
    SOTTO_TRY(run_postgres(connection,
                           path_,
                           "DECLARE sotto_rows NO SCROLL CURSOR FOR " + path_.select(),
                           "the server does not take the query"));
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

const char* postgres_type(OutputColumn::Type type) {
  switch (type) {
    case OutputColumn::Type::kInteger:
      return "bigint";
    case OutputColumn::Type::kReal:
      return "double precision";
    default:
      return "text";
  }
}

/// kUsage where a table of this name can't be made.
Expected<void> check_free_name(PGconn* connection, const DatabasePath& path, bool overwrite) {
  SOTTO_ASSIGN(const PostgresResult found,
               run_postgres(connection,
                            path,
                            "SELECT relkind FROM pg_class WHERE oid = to_regclass($1)",
                            "the server can't be asked",
                            false,
                            path.quoted_table().c_str()));
  if (PQntuples(found.get()) == 0) return {};
  const std::string_view kind = PQgetvalue(found.get(), 0, 0);
  if (kind != "r")
    return fail(ErrorKind::kUsage,
                fmt::format("{}: something of this name exists that is no plain table. Name a new "
                            "table.",
                            path.shown));
  if (!overwrite)
    return fail(ErrorKind::kUsage,
                fmt::format("{}: the table exists, and is kept. To replace it, give ‘overwrite’; "
                            "or name another one.",
                            path.shown));
  return {};
}

std::string create_statement(const DatabasePath& path, const std::vector<OutputColumn>& columns) {
  std::string declared;
  for (const OutputColumn& column : columns)
    declared += fmt::format("{}{} {}",
                            declared.empty() ? "" : ", ",
                            quoted_identifier(column.name),
                            postgres_type(column.type));
  return fmt::format("CREATE TABLE {} ({})", path.quoted_table(), declared);
}

class PostgresTable final : public SqlTable {
 public:
  explicit PostgresTable(DatabasePath path) : path_(std::move(path)) {}

  Expected<void> begin(const std::vector<OutputColumn>& columns, bool overwrite) {
    SOTTO_ASSIGN(connection_, connect_postgres(path_));
    PGconn* connection = connection_.get();
    SOTTO_TRY(run_postgres(connection, path_, "BEGIN", "the server refuses"));
    SOTTO_TRY(check_free_name(connection, path_, overwrite));
    if (overwrite)
      SOTTO_TRY(run_postgres(connection,
                             path_,
                             "DROP TABLE IF EXISTS " + path_.quoted_table(),
                             "the table can't be replaced"));
    SOTTO_TRY(run_postgres(
        connection, path_, create_statement(path_, columns), "the table can't be made"));
    SOTTO_TRY(run_postgres(connection,
                           path_,
                           fmt::format("COPY {} FROM STDIN", path_.quoted_table()),
                           "the table can't be written"));
    return {};
  }

  Expected<void> add(std::span<const std::string_view> values) override {
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (k > 0) buffer_ += '\t';
      append(values[k]);
    }
    buffer_ += '\n';
    ++rows_;
    return buffer_.size() < kSentBytes ? Expected<void>() : send();
  }

  Expected<void> commit() override {
    PGconn* connection = connection_.get();
    SOTTO_TRY(send());
    if (PQputCopyEnd(connection, nullptr) != 1)
      return postgres_failure(connection, nullptr, path_, true, kFailed);
    SOTTO_ASSIGN(const PostgresResult result, next_result(connection));
    if (!succeeded(result.get()))
      return postgres_failure(connection, result.get(), path_, true, kFailed);
    if (PQcmdTuples(result.get()) != std::to_string(rows_))
      return fail(
          ErrorKind::kIo,
          fmt::format("{}: the server did not take all rows. Nothing was kept.", path_.shown));
    SOTTO_ASSIGN(const PostgresResult none, next_result(connection));
    SOTTO_TRY(run_postgres(connection, path_, "COMMIT", kFailed, true));
    connection_.reset();
    return {};
  }

 private:
  static constexpr const char* kFailed = "the rows can't be written";

  /// A value as COPY takes it: nothing in it ends a field, a row or the data.
  void append(std::string_view value) {
    if (value.data() == nullptr) {
      buffer_ += "\\N";
      return;
    }
    for (const char c : value) {
      switch (c) {
        case '\\':
          buffer_ += "\\\\";
          break;
        case '\t':
          buffer_ += "\\t";
          break;
        case '\n':
          buffer_ += "\\n";
          break;
        case '\r':
          buffer_ += "\\r";
          break;
        default:
          buffer_ += c;
      }
    }
  }

  Expected<void> send() {
    if (stop_requested()) return stopped_early();
    const int sent =
        PQputCopyData(connection_.get(), buffer_.data(), static_cast<int>(buffer_.size()));
    buffer_.clear();
    if (sent != 1) return postgres_failure(connection_.get(), nullptr, path_, true, kFailed);
    return {};
  }

  DatabasePath path_;
  PostgresConnection connection_;
  std::string buffer_;
  std::int64_t rows_ = 0;
};

}  // namespace

Expected<std::unique_ptr<SqlRows>> open_postgres(const DatabasePath& path) {
  auto rows = std::make_unique<PostgresRows>(path);
  SOTTO_TRY(rows->open());
  return rows;
}

Expected<std::unique_ptr<SqlTable>> create_postgres_table(const DatabasePath& path,
                                                          const std::vector<OutputColumn>& columns,
                                                          bool overwrite) {
  auto table = std::make_unique<PostgresTable>(path);
  SOTTO_TRY(table->begin(columns, overwrite));
  return table;
}

Expected<void> check_postgres_table(const DatabasePath& path, bool overwrite) {
  SOTTO_ASSIGN(const PostgresConnection connection, connect_postgres(path));
  PGconn* raw = connection.get();
  SOTTO_TRY(run_postgres(raw, path, "BEGIN", "the server refuses"));
  SOTTO_TRY(check_free_name(raw, path, overwrite));
  if (overwrite) return {};  // dropping it now would wait for whoever reads it
  SOTTO_TRY(run_postgres(raw,
                         path,
                         create_statement(path, {{"row", OutputColumn::Type::kInteger}}),
                         "the table can't be made"));
  return {};  // the end of the connection takes it back
}

}  // namespace sotto
