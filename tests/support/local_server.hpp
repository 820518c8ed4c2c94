#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "tests/support/temp_dir.hpp"

extern char** environ;

namespace sotto::testing {

/// A server that answers "Range: bytes=N-", which Python's own does not, and logs "range N".
inline constexpr const char* kRangeServer = R"(
import http.server, os, sys
os.chdir(sys.argv[1])
class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        wanted = self.headers.get('Range')
        if not wanted:
            return super().do_GET()
        start = int(wanted[len('bytes='):].split('-')[0])
        print('range', start)
        content = open(self.translate_path(self.path), 'rb').read()
        self.send_response(206)
        self.send_header('Content-Length', str(len(content) - start))
        self.send_header('Content-Range', 'bytes %d-%d/%d' % (start, len(content) - 1, len(content)))
        self.end_headers()
        self.wfile.write(content[start:])
server = http.server.HTTPServer(('127.0.0.1', 0), Handler)
print('Serving on port', server.server_port, 'of this machine')
server.serve_forever()
)";

/// A web server of this machine alone, for one folder, on a port that is free; ends with the
/// object.
class LocalServer {
 public:
  explicit LocalServer(const std::string& folder, bool ranges = false) {
    if (std::system("curl --version >/dev/null 2>&1") != 0) return;
    // -u: the line with the port must not wait in a buffer.
    const std::string log_path = logs_.file("log");
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO})
      ::posix_spawn_file_actions_addopen(
          &actions, descriptor, log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    const char* plain[] = {"python3",
                           "-u",
                           "-m",
                           "http.server",
                           "0",
                           "--bind",
                           "127.0.0.1",
                           "--directory",
                           folder.c_str(),
                           nullptr};
    const char* with_ranges[] = {"python3", "-u", "-c", kRangeServer, folder.c_str(), nullptr};
    const char** arguments = ranges ? with_ranges : plain;
    const int error = ::posix_spawnp(
        &child_, arguments[0], &actions, nullptr, const_cast<char**>(arguments), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
      child_ = 0;
      return;
    }
    // "Serving HTTP on 127.0.0.1 port 40001 (http://127.0.0.1:40001/) ..."
    for (int tries = 0; tries < 600 && port_ == 0; ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      const std::string text = log();
      if (const auto at = text.find(" port "); at != text.npos && text.find('\n') != text.npos)
        port_ = std::atoi(text.c_str() + at + 6);
    }
  }
  ~LocalServer() {
    if (child_ == 0) return;
    ::kill(child_, SIGTERM);
    ::waitpid(child_, nullptr, 0);
  }
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  bool runs() const { return port_ != 0; }
  std::string log() const { return TempDir::read(logs_.file("log")); }
  std::string address() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  TempDir logs_;
  pid_t child_ = 0;
  int port_ = 0;
};

}  // namespace sotto::testing
