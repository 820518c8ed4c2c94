#pragma once

#include <string>
#include <string_view>

#include "sotto/core/error.hpp"

namespace sotto {

/// What a file holds that nothing can make again: kOther can be made again, or is not ours to know.
enum class FileKind { kOther, kJournal, kCheckpoint, kModel, kRecord };

/// By how a file begins, whoever wrote it and however its members are ordered.
FileKind kind_of(std::string_view beginning);
/// Of the file at this path; kOther if there is none, or if it is no regular file. kIo if it can't
/// be read: what nobody has looked at must not be replaced.
Expected<FileKind> kind_at(const std::string& path);

/// "a journal".
const char* called(FileKind kind);
/// Why it is kept: what is lost with it.
const char* worth_of(FileKind kind);

}  // namespace sotto
