#pragma once

#include <stdexcept>
#include <string>

namespace sotto::internal {

[[noreturn]] inline void check_failed(const char* condition, const char* file, int line) {
  throw std::logic_error(std::string(file) + ":" + std::to_string(line) +
                         ": internal check failed: " + condition);
}

}  // namespace sotto::internal

/// A condition that only a bug in Sotto can break. Throws std::logic_error; `main` reports it with
/// exit code 7. Never use it for what a user, a file or a budget can cause.
#define SOTTO_CHECK(condition) \
  ((condition) ? void(0) : ::sotto::internal::check_failed(#condition, __FILE__, __LINE__))
