#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sotto/core/error.hpp"
#include "sotto/core/file.hpp"

namespace sotto {

/// Room on a disk for what memory has no room for: a file without a name in $TMPDIR or /tmp, which
/// nobody else can open and which is gone with the program, however that ends.
class ScratchFile {
 public:
  static Expected<ScratchFile> create();

  Expected<void> append(std::string_view bytes);
  std::int64_t size() const { return size_; }
  /// Fills the buffer from this place on. Only of what was appended.
  Expected<void> read(std::int64_t begin, std::span<char> buffer);

 private:
  ScratchFile(std::string folder, OpenFile file)
      : folder_(std::move(folder)), file_(std::move(file)) {}

  std::string folder_;
  OpenFile file_;
  std::int64_t size_ = 0;
  bool at_end_ = true;  ///< the file's own place is where append() writes
};

}  // namespace sotto
