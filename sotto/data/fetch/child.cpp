#include "sotto/data/fetch/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "sotto/core/stop.hpp"

extern char** environ;

namespace sotto {
namespace {

/// The limit holds for the child alone, so it is set from outside once the child runs: a file that
/// grew in that moment grows no further.
void limit_files(pid_t child, std::int64_t bytes) {
  const auto most = static_cast<rlim_t>(bytes);
  const rlimit limit{most, most};
  ::prlimit(child, RLIMIT_FSIZE, &limit, nullptr);
}

/// Looks now and then instead of waiting: a signal that asks for an end may come at any moment.
int wait_for(pid_t child) {
  int status = 0;
  bool told = false;
  for (int pause = 1; ::waitpid(child, &status, WNOHANG) == 0; pause = std::min(50, 2 * pause)) {
    if (stop_requested() && !told) {
      ::kill(child, SIGTERM);
      told = true;
    }
    ::poll(nullptr, 0, pause);
  }
  if (told) return kStopped;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int run_program(const std::vector<std::string>& arguments, const ProgramOptions& options) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions,
                                     STDOUT_FILENO,
                                     options.output.empty() ? "/dev/null" : options.output.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC,
                                     0644);
  if (!options.talks)
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> argv;
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return kNoSuchProgram;
  if (options.most_bytes > 0) limit_files(child, options.most_bytes);
  return wait_for(child);
}

}  // namespace sotto
