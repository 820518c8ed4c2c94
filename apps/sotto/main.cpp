#include <sys/prctl.h>

#include "command_line.hpp"
#include "signals.hpp"
#include "sotto/core/file.hpp"

int main(int argc, char** argv) {
  sotto::hold_standard_streams();
  // Neither rows nor the noise's keys in a core dump, nor for a debugger of another program.
  ::prctl(PR_SET_DUMPABLE, 0);
  sotto::app::install_signals();
  return sotto::app::run_command_line({argv + 1, argv + argc});
}
