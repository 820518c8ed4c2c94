#include "out_of_memory.hpp"

#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <new>

#include "exit_codes.hpp"
#include "printer.hpp"
#include "sotto/core/digest.hpp"
#include "sotto/core/file.hpp"

namespace sotto::app {
namespace {

/// More than an exception takes.
constexpr std::size_t kSome = 1 << 12;

bool memory_ran_out() noexcept {
  // Where there is not even room for an exception, there is none.
  if (!std::current_exception()) {
    void* volatile some = std::malloc(kSome);  // which is not to be optimized away
    std::free(some);
    return some == nullptr;
  }
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

}  // namespace

void tell_out_of_memory() noexcept {
  say_to_terminal("sotto: not enough memory. What was released until now is in the journal.\n");
}

void use_libraries_once() {
  constexpr std::size_t kPlenty = std::size_t{4} << 20;
  void* volatile plenty = std::malloc(kPlenty);
  const bool there = plenty != nullptr;
  std::free(plenty);
  if (!there) {
    tell_out_of_memory();
    ::_exit(kIoFailure);
  }
  sha256("");
}

void install_out_of_memory() { std::set_terminate(on_terminate); }

}  // namespace sotto::app
