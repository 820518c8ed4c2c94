#include "out_of_memory.hpp"

#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <new>

#include "exit_codes.hpp"
#include "printer.hpp"
#include "sotto/core/file.hpp"

namespace sotto::app {
namespace {

bool memory_ran_out() noexcept {
  if (!std::current_exception()) return false;
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return true;
  } catch (...) {
    return false;
  }
}

[[noreturn]] void on_terminate() {
  if (!memory_ran_out()) std::abort();
  tell_out_of_memory();
  remove_temporary_files();
  ::_exit(kIoFailure);
}

// Before the constructors of other static objects.
[[gnu::constructor(101)]] void install_early() { install_out_of_memory(); }

}  // namespace

void tell_out_of_memory() noexcept {
  say_to_terminal("sotto: not enough memory. What was released until now is in the journal.\n");
}

void install_out_of_memory() { std::set_terminate(on_terminate); }

}  // namespace sotto::app
