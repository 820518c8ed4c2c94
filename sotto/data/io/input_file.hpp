#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "sotto/core/error.hpp"
#include "sotto/data/limits.hpp"

namespace sotto {

/// Bytes that are made while they are read.
class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  /// As InputFile::read.
  virtual Expected<std::size_t> read(std::span<char> buffer) = 0;
};

/// A file read from front to back: gzip if its name ends in .gz, else plain. Its first bytes do not
/// decide, since in a plain file they are the first row's.
/// Failures: kIo for a missing file, a directory or a read error; kBadData for an empty file, for
/// compressed data that is cut short or damaged, and for what is beyond the limits.
class InputFile {
 public:
  /// `any_content`: neither a file of no bytes nor one that looks like gzip under another name is a
  /// failure.
  static Expected<InputFile> open(const std::string& path,
                                  bool any_content = false,
                                  const InputLimits& limits = {});
  /// Standard input, plain, which can be read once.
  static Expected<InputFile> standard_input(const InputLimits& limits = {},
                                            bool any_content = false);
  /// What can be read once. `path` stands for it in messages.
  static InputFile of(const std::string& path, std::unique_ptr<ByteSource> source);
  /// The bytes on the disk, whatever its name and content.
  static Expected<InputFile> open_as_it_is(const std::string& path);
  InputFile(InputFile&&) noexcept;
  InputFile& operator=(InputFile&&) noexcept;
  ~InputFile();

  /// Reads until `buffer` is full or the file ends, and says how many bytes it read.
  Expected<std::size_t> read(std::span<char> buffer);
  /// Starts again at the first byte.
  Expected<void> rewind();

  const std::string& path() const;
  bool compressed() const;
  /// Bytes on disk; of what can be read once as many as it may have.
  std::size_t file_size() const;

 private:
  struct State;
  explicit InputFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sotto
