#pragma once

// The result type of everything that a user, a file or a budget can make fail. A bug is not an
// Error: it is a SOTTO_CHECK (core/check.hpp).

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace sotto {

/// What kind of failure it was; the command line turns it into an exit code
/// (apps/sotto/exit_codes).
enum class ErrorKind {
  kNoModel,      ///< the run ended without a usable model
  kUsage,        ///< an option or argument is wrong
  kBadData,      ///< an input file's content is wrong
  kBudget,       ///< the privacy budget refuses; nothing was released
  kAudit,        ///< an audit contradicts the claim
  kIo,           ///< a file can't be read or written
  kInterrupted,  ///< a signal asked for the end
  kInternal,     ///< a bug
};

/// A failure. The text says what, the value, the rule and the remedy, and never quotes a row. It
/// names options in marks (core/option_names.hpp), which front ends spell out.
struct Error {
  ErrorKind kind;
  std::string message;
  /// The message is a list (core/text.hpp): its line breaks are the program's own.
  bool is_list = false;
};

template <class T>
using Expected = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(ErrorKind kind, std::string message) {
  return tl::unexpected<Error>(Error{kind, std::move(message)});
}

}  // namespace sotto

/// Evaluates an Expected; on failure returns its error from the enclosing function.
#define SOTTO_TRY(expression)                                                     \
  do {                                                                            \
    if (auto sotto_try_result = (expression); !sotto_try_result)                  \
      return tl::unexpected<::sotto::Error>(std::move(sotto_try_result).error()); \
  } while (false)

#define SOTTO_CONCAT_INNER(a, b) a##b
#define SOTTO_CONCAT(a, b) SOTTO_CONCAT_INNER(a, b)

/// `SOTTO_ASSIGN(auto x, f())`: x is f()'s value, or the enclosing function returns f()'s error.
#define SOTTO_ASSIGN(declaration, expression)                      \
  auto SOTTO_CONCAT(sotto_result_, __LINE__) = (expression);       \
  if (!SOTTO_CONCAT(sotto_result_, __LINE__))                      \
    return tl::unexpected<::sotto::Error>(                         \
        std::move(SOTTO_CONCAT(sotto_result_, __LINE__)).error()); \
  declaration = *std::move(SOTTO_CONCAT(sotto_result_, __LINE__))
