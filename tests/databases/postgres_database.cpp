// A server of the tests' own: made in a temporary folder, as a user that is not root, on a port of
// the loopback that is free. It is gone with the program.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "tests/databases/database.hpp"
#include "tests/support/predictions.hpp"

namespace sotto::testing {
namespace {

namespace fs = std::filesystem;

/// The folder of Debian's newest PostgreSQL.
std::string programs() {
  std::string newest;
  std::error_code error;
  for (const auto& each : fs::directory_iterator("/usr/lib/postgresql", error))
    if (fs::exists(each.path() / "bin/initdb")) newest = std::max(newest, each.path().string());
  return newest.empty() ? "" : newest + "/bin/";
}

int free_port() {
  const int file = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ::bind(file, reinterpret_cast<sockaddr*>(&address), size);
  ::getsockname(file, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(file);
  return ntohs(address.sin_port);
}

class Server {
 public:
  static Server& instance() {
    static Server server;
    return server;
  }
  ~Server() {
    if (running_) shell(programs() + "pg_ctl -D " + in_quotes(data_) + " -m immediate stop");
  }
  const std::string& why_not() const { return why_not_; }
  int port() const { return port_; }
  const std::string& sockets() const { return folder_; }

 private:
  Server() {
    if (programs().empty()) {
      why_not_ = "there is no PostgreSQL server (Debian: postgresql)";
      return;
    }
    folder_ = dir_.file("s");
    data_ = folder_ + "/data";
    fs::create_directories(folder_);
    if (::geteuid() == 0) {  // which a server refuses to be
      as_ = "runuser -u nobody -- ";
      fs::permissions(fs::path(folder_).parent_path(),
                      fs::perms::owner_all | fs::perms::others_exec);
      std::system(("chown nobody " + in_quotes(folder_)).c_str());
    }
    port_ = free_port();
    if (shell(programs() + "initdb -A trust -E UTF8 --locale=C -U sotto -D " + in_quotes(data_)) !=
            0 ||
        shell(programs() + "pg_ctl -w -D " + in_quotes(data_) + " -l " +
              in_quotes(folder_ + "/log") + " -o \"-F -c listen_addresses=127.0.0.1 -p " +
              std::to_string(port_) + " -k " + folder_ + "\" start") != 0) {
      why_not_ = "no PostgreSQL server could be started here";
      return;
    }
    running_ = true;
  }
  int shell(const std::string& line) const {
    return std::system(("cd / && " + as_ + line + " >/dev/null 2>&1").c_str());
  }

  TempDir dir_;
  std::string folder_, data_, as_, why_not_;
  int port_ = 0;
  bool running_ = false;
};

class Postgres final : public TestDatabase {
 public:
  explicit Postgres(const std::string& encoding) {
    static int count = 0;
    const std::string name = "d" + std::to_string(count++);
    connect("postgres");
    run("CREATE DATABASE " + name + " ENCODING '" + encoding + "' TEMPLATE template0");
    PQfinish(connection_);
    connect(name);
    uri_ = "postgresql://sotto@127.0.0.1:" + std::to_string(Server::instance().port()) + "/" + name;
  }
  ~Postgres() override { PQfinish(connection_); }

  void run(const std::string& sql) override {
    PGresult* result = PQexec(connection_, sql.c_str());
    const auto status = PQresultStatus(result);
    EXPECT_TRUE(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)
        << sql << ": " << PQresultErrorMessage(result);
    PQclear(result);
  }

  std::vector<std::string> rows(const std::string& query) override {
    PGresult* result = PQexec(connection_, query.c_str());
    EXPECT_EQ(PQresultStatus(result), PGRES_TUPLES_OK) << PQresultErrorMessage(result);
    std::vector<std::string> all;
    for (int i = 0; i < PQntuples(result); ++i) {
      std::string row;
      for (int k = 0; k < PQnfields(result); ++k)
        row += (k > 0 ? "|" : "") +
               std::string(PQgetisnull(result, i, k) ? "NULL" : PQgetvalue(result, i, k));
      all.push_back(row);
    }
    PQclear(result);
    return all;
  }

  std::string path(const std::string& target) const override { return uri_ + "#" + target; }
  std::string bytes() const override { return "bytea"; }
  std::string fails_at_50() const override {
    return "(CASE WHEN x = 50 THEN 'secret' ELSE '1' END)::integer";
  }

 private:
  void connect(const std::string& name) {
    const Server& server = Server::instance();
    connection_ =
        PQconnectdb(("host=" + server.sockets() + " port=" + std::to_string(server.port()) +
                     " user=sotto dbname=" + name)
                        .c_str());
    EXPECT_EQ(PQstatus(connection_), CONNECTION_OK) << PQerrorMessage(connection_);
  }

  PGconn* connection_ = nullptr;
  std::string uri_;
};

}  // namespace

std::unique_ptr<TestDatabase> postgres_database(std::string& why_not, const std::string& encoding) {
  why_not = Server::instance().why_not();
  return why_not.empty() ? std::make_unique<Postgres>(encoding) : nullptr;
}

}  // namespace sotto::testing
