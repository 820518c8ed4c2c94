#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/command.hpp"
#include "tests/support/predictions.hpp"

namespace sotto::testing {

/// A database of the test's own that runs a text of statements and gives lines of tabs.
struct SqlRunner {
  std::string name;
  std::string why_not;  ///< why it is not here; empty: it is
  std::function<CommandResult(const std::string& statements)> run;
  /// A number with all its digits.
  std::function<std::string(const std::string& expression)> exact;
};

inline CommandResult run_file(const std::string& command, const std::string& statements) {
  const TempDir dir;
  std::filesystem::permissions(
      std::filesystem::path(dir.file("x")).parent_path(),
      std::filesystem::perms::others_exec | std::filesystem::perms::owner_all);
  const std::string file = dir.write("statements.sql", statements);
  std::filesystem::permissions(
      file, std::filesystem::perms::others_read | std::filesystem::perms::owner_all);
  return in_a_shell([&](const std::string& to) { return command + " <" + in_quotes(file) + to; });
}

/// SQLite in memory: each call begins with nothing.
inline SqlRunner sqlite() {
  SqlRunner runner;
  runner.name = "sqlite";
  if (std::system("sqlite3 :memory: 'select exp(tanh(1))' >/dev/null 2>&1") != 0)
    runner.why_not = "there is no sqlite3 with mathematical functions (Debian: sqlite3)";
  runner.run = [](const std::string& statements) {
    return run_file("sqlite3 -batch -bail -separator '\t' -nullvalue NULL :memory:", statements);
  };
  runner.exact = [](const std::string& expression) {
    return "printf('%!.17g', " + expression + ")";
  };
  return runner;
}

/// A server in a temporary folder, as a user that is not root, without a network. It is made when
/// first asked for, and ends with the program.
class PostgresServer {
 public:
  static PostgresServer& instance() {
    static PostgresServer server;
    return server;
  }
  const std::string& why_not() const { return why_not_; }
  CommandResult run(const std::string& statements) const {
    return run_file(as_ + programs() +
                        "psql -X -q -A -t -F '\t' -P null=NULL -v ON_ERROR_STOP=1 -h " +
                        in_quotes(folder_) + " -U sotto -d postgres",
                    "DROP SCHEMA IF EXISTS public CASCADE; CREATE SCHEMA public;\n" + statements);
  }

 private:
  PostgresServer() {
    if (programs().empty()) {
      why_not_ = "there is no PostgreSQL server (Debian: postgresql)";
      return;
    }
    namespace fs = std::filesystem;
    folder_ = dir_.file("s");
    fs::create_directories(folder_);
    if (::geteuid() == 0) {  // which a server refuses to be
      as_ = "runuser -u nobody -- ";
      fs::permissions(fs::path(folder_).parent_path(),
                      fs::perms::owner_all | fs::perms::others_exec);
      if (std::system(("chown nobody " + in_quotes(folder_)).c_str()) != 0)
        why_not_ = "a folder can't be given to the user nobody";
    }
    const std::string data = in_quotes(folder_ + "/data");
    const auto shell = [&](const std::string& command) {
      return std::system(("cd / && " + as_ + command + " >/dev/null 2>&1").c_str());
    };
    if (why_not_.empty() &&
        (shell(programs() + "initdb -A trust -E UTF8 --locale=C -U sotto -D " + data) != 0 ||
         shell(programs() + "pg_ctl -w -D " + data + " -l " + in_quotes(folder_ + "/log") +
               " -o \"-F -c listen_addresses='' -k " + folder_ + "\" start") != 0))
      why_not_ = "no PostgreSQL server could be started here";
    running_ = why_not_.empty();
  }
  ~PostgresServer() {
    if (running_)
      std::ignore =
          std::system(("cd / && " + as_ + programs() + "pg_ctl -D " + in_quotes(folder_ + "/data") +
                       " -m immediate stop >/dev/null 2>&1")
                          .c_str());
  }
  /// The folder of Debian's newest PostgreSQL.
  static std::string programs() {
    std::string newest;
    std::error_code error;
    for (const auto& each : std::filesystem::directory_iterator("/usr/lib/postgresql", error))
      if (std::filesystem::exists(each.path() / "bin/initdb"))
        newest = std::max(newest, each.path().string());
    return newest.empty() ? "" : newest + "/bin/";
  }

  TempDir dir_;
  std::string folder_, as_, why_not_;
  bool running_ = false;
};

inline SqlRunner postgres() {
  SqlRunner runner;
  runner.name = "postgres";
  runner.why_not = PostgresServer::instance().why_not();
  runner.run = [](const std::string& statements) {
    return PostgresServer::instance().run(statements);
  };
  runner.exact = [](const std::string& expression) { return expression; };
  return runner;
}

}  // namespace sotto::testing
