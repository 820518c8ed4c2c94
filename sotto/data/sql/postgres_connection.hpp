#pragma once

// What the files that read and write PostgreSQL share; no others see libpq.

#include <libpq-fe.h>

#include <memory>
#include <string>

#include "sotto/core/error.hpp"
#include "sotto/data/sql/database_path.hpp"

namespace sotto {

struct ClosePostgres {
  void operator()(PGconn* connection) const { PQfinish(connection); }
  void operator()(PGresult* result) const { PQclear(result); }
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
  void operator()(PGcancel* cancel) const { PQfreeCancel(cancel); }
};
using PostgresConnection = std::unique_ptr<PGconn, ClosePostgres>;
using PostgresResult = std::unique_ptr<PGresult, ClosePostgres>;

/// kIo: no server answers; kUsage: it would not have to prove who it is. Texts are UTF-8, or bytes
/// as they are where the database knows no encoding.
Expected<PostgresConnection> connect_postgres(const DatabasePath& path);

/// The encoding of the database that is connected to.
std::string postgres_encoding(const PGconn* connection);

/// The next result of what was sent; null: there is no other. On a signal the server is told to
/// give up.
Expected<PostgresResult> next_result(PGconn* connection);

bool succeeded(const PGresult* result);

/// As libpq finds it, or as a server says that ends. A function's own words with such a code are
/// none of that.
bool is_connection_lost(PGconn* connection, const PGresult* result);

/// `may_quote`: rows are being read or written, so that nothing of what the server says is shown.
/// Without it that is shown of which no row can be a part.
tl::unexpected<Error> postgres_failure(PGconn* connection,
                                       const PGresult* result,
                                       const DatabasePath& path,
                                       bool may_quote,
                                       const char* what);

/// One statement, which is all that the extended protocol takes.
Expected<PostgresResult> run_postgres(PGconn* connection,
                                      const DatabasePath& path,
                                      const std::string& sql,
                                      const char* what,
                                      bool may_quote = false,
                                      const char* argument = nullptr);

/// What the path names, ready to be fetched as `sotto_rows`: its tables are locked for reading.
Expected<void> declare_cursor(PGconn* connection, const DatabasePath& path);

}  // namespace sotto
