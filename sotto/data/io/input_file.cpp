#include "sotto/data/io/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "sotto/core/file.hpp"
#include "sotto/core/file_system.hpp"
#include "sotto/core/stop.hpp"

namespace sotto {
namespace {

constexpr std::size_t kInputBytes = 256 * 1024;
constexpr int kGzipOnly = 15 + 16;  // largest window, gzip header and checksum
constexpr std::string_view kGzipMagic = "\x1f\x8b\x08";

}  // namespace

struct InputFile::State {
  State(std::string name, OpenFile open, std::size_t bytes)
      : path(std::move(name)), file(std::move(open)), size(bytes) {}
  ~State() {
    if (gzip) inflateEnd(&stream);
  }

  Expected<std::size_t> read_raw(char* data, std::size_t bytes);
  Expected<void> check_stream(std::string_view bytes);
  Expected<std::size_t> inflate_into(std::span<char> buffer);

  std::string path;
  OpenFile file;
  std::size_t size;
  std::int64_t unpacked = 0;
  std::int64_t most_unpacked = 0;
  std::unique_ptr<ByteSource> made;  ///< in the place of a file
  bool is_stream = false;
  bool any_content = false;
  std::size_t streamed = 0;
  bool gzip = false;
  bool member_ended = false;
  z_stream stream{};
  std::vector<char> input;
};

InputFile::InputFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
InputFile::InputFile(InputFile&&) noexcept = default;
InputFile& InputFile::operator=(InputFile&&) noexcept = default;
InputFile::~InputFile() = default;
const std::string& InputFile::path() const { return state_->path; }
bool InputFile::compressed() const { return state_->gzip; }
std::size_t InputFile::file_size() const { return state_->size; }

Expected<InputFile> InputFile::open_as_it_is(const std::string& path) {
  FileSystem& system = file_system();
  // Not waiting for the other end of a pipe, which is refused below.
  constexpr int kFlags = O_RDONLY | O_NONBLOCK | O_CLOEXEC;
  OpenFile file(retried([&] { return system.open(path.c_str(), kFlags, 0); }));
  if (file.descriptor() < 0) {
    if (errno == EINTR) return stopped_early();
    const char* remedy = errno == ENOENT ? " Check the path." : " Check its permissions.";
    return fail(ErrorKind::kIo,
                fmt::format("{}: can't open the file: {}.{}", path, std::strerror(errno), remedy));
  }
  struct stat facts {};
  if (system.stat(file.descriptor(), facts) != 0)
    return fail(ErrorKind::kIo,
                fmt::format("{}: can't read the file: {}.", path, std::strerror(errno)));
  if (S_ISDIR(facts.st_mode))
    return fail(ErrorKind::kIo,
                fmt::format("{}: is a directory. Give the path of a data file.", path));
  if (!S_ISREG(facts.st_mode))
    return fail(ErrorKind::kIo,
                fmt::format("{}: is not a regular file. Write what comes through it to a file "
                            "first, or give it as standard input, which is called -.",
                            path));
  ::posix_fadvise(file.descriptor(), 0, 0, POSIX_FADV_SEQUENTIAL);
  return InputFile(
      std::make_unique<State>(path, std::move(file), static_cast<std::size_t>(facts.st_size)));
}

Expected<InputFile> InputFile::open(const std::string& path,
                                    bool any_content,
                                    const InputLimits& limits) {
  SOTTO_ASSIGN(InputFile file, open_as_it_is(path));
  State* state = file.state_.get();
  const auto size = static_cast<std::int64_t>(state->size);
  if (size > limits.file_bytes)
    return fail(ErrorKind::kBadData,
                fmt::format("{}: the file is larger than {} bytes. If it is meant to be, raise "
                            "‘max_file’.",
                            path,
                            limits.file_bytes));
  state->most_unpacked = limits.unpacked_bytes > 0 ? limits.unpacked_bytes
                                                   : std::max(InputLimits::kUnpackedBytes,
                                                              InputLimits::kUnpackedRatio * size);
  if (state->size == 0 && !any_content)
    return fail(ErrorKind::kBadData,
                fmt::format("{}: the file is empty. A data file needs at least one row.", path));
  std::array<char, kGzipMagic.size()> magic{};
  SOTTO_ASSIGN(const std::size_t got, state->read_raw(magic.data(), magic.size()));
  SOTTO_TRY(file.rewind());
  const bool looks_packed = std::string_view(magic.data(), got) == kGzipMagic;
  if (path.ends_with(".gz")) {
    state->gzip = inflateInit2(&state->stream, kGzipOnly) == Z_OK;
    if (!state->gzip) return fail(ErrorKind::kIo, path + ": zlib can't start; not enough memory.");
    state->input.resize(kInputBytes);
  } else if (looks_packed && !any_content) {
    return fail(ErrorKind::kBadData,
                fmt::format("{}: this looks like a gzip file, which is known by its name. Rename "
                            "it to {}.gz, or unpack it.",
                            path,
                            path));
  }
  return file;
}

InputFile InputFile::of(const std::string& path, std::unique_ptr<ByteSource> source) {
  auto state =
      std::make_unique<State>(path, OpenFile(), static_cast<std::size_t>(InputLimits::kFileBytes));
  state->made = std::move(source);
  return InputFile(std::move(state));
}

Expected<InputFile> InputFile::standard_input(const InputLimits& limits, bool any_content) {
  OpenFile file = another_standard_stream(STDIN_FILENO);
  if (file.descriptor() < 0)
    return fail(ErrorKind::kIo,
                fmt::format("can't read standard input: {}. Give it rows, or name a file.",
                            std::strerror(errno)));
  auto state = std::make_unique<State>(
      "standard input", std::move(file), static_cast<std::size_t>(limits.file_bytes));
  state->is_stream = true;
  state->any_content = any_content;
  return InputFile(std::move(state));
}

/// Of a stream's next bytes, whose number and kind nothing told before.
Expected<void> InputFile::State::check_stream(std::string_view bytes) {
  if (streamed == 0 && !any_content && bytes.starts_with(kGzipMagic))
    return fail(ErrorKind::kBadData,
                fmt::format("{}: it is packed (gzip). Unpack it before, for example with `zcat`, "
                            "or name the file, ending in .gz.",
                            path));
  streamed += bytes.size();
  if (streamed > size)
    return fail(
        ErrorKind::kBadData,
        fmt::format(
            "{}: it has more than {} bytes. If it is meant to, raise ‘max_file’.", path, size));
  return {};
}

Expected<std::size_t> InputFile::State::read_raw(char* data, std::size_t bytes) {
  std::size_t total = 0;
  while (total < bytes) {
    if (stop_requested()) return stopped_early();
    const ssize_t got =
        retried([&] { return file_system().read(file.descriptor(), data + total, bytes - total); });
    if (got == 0) break;
    if (got < 0 && errno == EINTR && stop_requested()) return stopped_early();
    if (got < 0)
      return fail(ErrorKind::kIo,
                  fmt::format("{}: can't read the file: {}.", path, std::strerror(errno)));
    total += static_cast<std::size_t>(got);
  }
  if (is_stream) SOTTO_TRY(check_stream({data, total}));
  return total;
}

Expected<std::size_t> InputFile::State::inflate_into(std::span<char> buffer) {
  const auto damaged = [&](const char* what) {
    return fail(ErrorKind::kBadData,
                fmt::format("{}: the gzip data {}. Fetch or compress the file again.", path, what));
  };
  std::size_t written = 0;
  while (written < buffer.size()) {
    if (stream.avail_in == 0) {
      SOTTO_ASSIGN(const std::size_t got, read_raw(input.data(), input.size()));
      if (got == 0) {
        if (member_ended) break;
        return damaged("ends too early (truncated)");
      }
      stream.next_in = reinterpret_cast<Bytef*>(input.data());
      stream.avail_in = static_cast<uInt>(got);
    }
    if (member_ended) {  // another gzip member, as `cat a.gz b.gz` makes them
      inflateReset(&stream);
      member_ended = false;
    }
    const auto room = static_cast<uInt>(std::min<std::size_t>(buffer.size() - written, 1U << 30));
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data() + written);
    stream.avail_out = room;
    const int status = ::inflate(&stream, Z_NO_FLUSH);
    written += room - stream.avail_out;
    unpacked += room - stream.avail_out;
    if (unpacked > most_unpacked)
      return fail(ErrorKind::kBadData,
                  fmt::format("{}: it unpacks to more than {} bytes. If it is meant to, raise "
                              "‘max_unpacked’.",
                              path,
                              most_unpacked));
    if (status == Z_STREAM_END) {
      member_ended = true;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      return damaged("is damaged");
    }
  }
  return written;
}

Expected<std::size_t> InputFile::read(std::span<char> buffer) {
  if (state_->made) return state_->made->read(buffer);
  if (state_->gzip) return state_->inflate_into(buffer);
  return state_->read_raw(buffer.data(), buffer.size());
}

Expected<void> InputFile::rewind() {
  if (file_system().seek(state_->file.descriptor(), 0, SEEK_SET) != 0)
    return fail(
        ErrorKind::kIo,
        fmt::format(
            "{}: can't read the file a second time: {}.", state_->path, std::strerror(errno)));
  if (state_->gzip) {
    inflateReset(&state_->stream);
    state_->stream.avail_in = 0;
    state_->member_ended = false;
    state_->unpacked = 0;
  }
  return {};
}

}  // namespace sotto
