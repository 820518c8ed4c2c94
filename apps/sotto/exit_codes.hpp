#pragma once

#include "sotto/core/error.hpp"

namespace sotto::app {

/// The documented exit codes (docs/reference/exit_codes.md, `sotto --help`).
enum ExitCode : int {
  kSuccess = 0,
  kNoUsableModel = 1,
  kUsage = 2,
  kBadInput = 3,
  kBudgetRefused = 4,
  kAuditContradicts = 5,
  kIoFailure = 6,
  kInternalError = 7,
  kInterrupted = 130,
};

/// As help and man pages tell them.
inline constexpr const char* kExitCodes =
    "0 success; 1 no usable model; 2 usage; 3 bad input data, or a damaged journal; 4 budget "
    "refused, nothing released;\n5 an audit contradicts the claim; 6 files can't be read or "
    "written, or memory or threads are refused; 7 internal error; 130 interrupted.";

inline ExitCode exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kNoModel:
      return kNoUsableModel;
    case ErrorKind::kUsage:
      return kUsage;
    case ErrorKind::kBadData:
      return kBadInput;
    case ErrorKind::kBudget:
      return kBudgetRefused;
    case ErrorKind::kAudit:
      return kAuditContradicts;
    case ErrorKind::kIo:
      return kIoFailure;
    case ErrorKind::kInterrupted:
      return kInterrupted;
    case ErrorKind::kInternal:
      return kInternalError;
  }
  return kInternalError;
}

}  // namespace sotto::app
