// What a server says may hold a row's content from the moment that rows are asked for: from then on
// its words are not shown, and notices never are.

#include "sotto/data/sql/postgres_connection.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <poll.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <sstream>
#include <string_view>

#include "sotto/core/stop.hpp"

namespace sotto {
namespace {

constexpr int kConnectSeconds = 30;
constexpr int kLookMilliseconds = 500;  ///< between looks for a signal

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

}  // namespace

std::string postgres_encoding(const PGconn* connection) {
  const char* name = PQparameterStatus(connection, "server_encoding");
  return name == nullptr ? "" : name;
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
  // Bytes that are no text of any encoding can't be made UTF-8.
  if (postgres_encoding(raw) == "SQL_ASCII")
    SOTTO_TRY(run_postgres(raw, path, "SET client_encoding = 'SQL_ASCII'", "the server refuses"));
  return connection;
}

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

namespace {

/// Of no row is a part what a server says of names, syntax, rights and what it can't do. Functions
/// run while a query is planned, and may say anything by any code: they have a context.
bool is_of_the_query(const PGresult* result, std::string_view state) {
  if (PQresultErrorField(result, PG_DIAG_CONTEXT) != nullptr) return false;
  for (const char* each : {"42", "3D", "3F", "0A", "2BP"})
    if (state.starts_with(each)) return true;
  return false;
}

bool is_of_data(std::string_view state) {
  for (const char* each : {"22", "23", "P0", "XX"})
    if (state.starts_with(each)) return true;
  return false;
}

}  // namespace

bool is_connection_lost(PGconn* connection, const PGresult* result) {
  if (PQstatus(connection) == CONNECTION_BAD || result == nullptr) return true;
  const char* severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  return severity == nullptr || std::strcmp(severity, "ERROR") != 0;
}

tl::unexpected<Error> postgres_failure(PGconn* connection,
                                       const PGresult* result,
                                       const DatabasePath& path,
                                       bool may_quote,
                                       const char* what) {
  if (is_connection_lost(connection, result))
    return fail(ErrorKind::kIo,
                fmt::format("{}: {}: the connection to the server was lost. Nothing was kept: "
                            "start again.",
                            path.shown,
                            what));
  const char* field = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const std::string state = field == nullptr ? "" : field;
  // 57014: the query was cancelled.
  if (state.starts_with("53") || state.starts_with("55") || state.starts_with("58") ||
      state.starts_with("40") || state == "57014")
    return fail(ErrorKind::kIo,
                fmt::format("{}: {}: the server can't do it now (SQLSTATE {}). Nothing was kept: "
                            "try again.",
                            path.shown,
                            what,
                            state));
  if (!may_quote && state == "25006")
    return fail(ErrorKind::kUsage,
                fmt::format("{}: {}: only reading is allowed here (SQLSTATE 25006). A query is one "
                            "SELECT that changes nothing; a table is written where the server is "
                            "no standby and default_transaction_read_only is off.",
                            path.shown,
                            what));
  if (!may_quote && state == "08P01")
    return fail(ErrorKind::kUsage,
                fmt::format("{}: {}: it has a parameter, as $1, that nothing fills. Write its "
                            "value.",
                            path.shown,
                            what));
  if (!may_quote && is_of_the_query(result, state))
    return fail(ErrorKind::kUsage,
                fmt::format("{}: {}: {} (SQLSTATE {}). Check the names and the query.",
                            path.shown,
                            what,
                            first_line(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY)),
                            state));
  return fail(may_quote || is_of_data(state) ? ErrorKind::kBadData : ErrorKind::kUsage,
              fmt::format("{}: {} (SQLSTATE {}). What the server says may hold a row's content "
                          "and is not shown: its log has it.",
                          path.shown,
                          what,
                          state));
}

Expected<PostgresResult> run_postgres(PGconn* connection,
                                      const DatabasePath& path,
                                      const std::string& sql,
                                      const char* what,
                                      bool may_quote,
                                      const char* argument) {
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

Expected<void> declare_cursor(PGconn* connection, const DatabasePath& path) {
  SOTTO_TRY(run_postgres(connection,
                         path,
                         "DECLARE sotto_rows NO SCROLL CURSOR FOR " + path.select(),
                         "the server does not take the query"));
  return {};
}

}  // namespace sotto
