#include <sys/prctl.h>

#include "command_line.hpp"
#include "out_of_memory.hpp"
#include "signals.hpp"
#include "sotto/core/file.hpp"

// Before the libraries make their static objects, for which memory may not suffice either.
[[gnu::section(".preinit_array"),
  gnu::used]] void (*const kBeforeLibraries)() = sotto::app::install_out_of_memory;

int main(int argc, char** argv) {
  sotto::hold_standard_streams();
  // Neither rows nor the noise's keys in a core dump, nor for a debugger of another program.
  ::prctl(PR_SET_DUMPABLE, 0);
  sotto::app::install_signals();
  sotto::app::use_libraries_once();
  return sotto::app::run_command_line({argv + 1, argv + argc});
}
