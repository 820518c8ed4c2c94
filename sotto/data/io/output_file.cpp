#include "sotto/data/io/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace sotto {

struct OutputFile::State {
  ~State() {
    if (stream != nullptr) gzclose(stream);
    if (fd >= 0) {
      ::close(fd);
      ::unlink(temporary.c_str());
    }
  }
  tl::unexpected<Error> failure() const {
    return fail(
        ErrorKind::kIo,
        fmt::format("{}: can't write the file: {}. Check the directory, its permissions and "
                    "the free space.",
                    path,
                    std::strerror(error != 0 ? error : EIO)));
  }

  std::string path;
  std::string temporary;
  int fd = -1;
  gzFile stream = nullptr;
  bool failed = false;
  int error = 0;
};

OutputFile::OutputFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
OutputFile::OutputFile(OutputFile&&) noexcept = default;
OutputFile& OutputFile::operator=(OutputFile&&) noexcept = default;
OutputFile::~OutputFile() = default;

Expected<OutputFile> OutputFile::create(const std::string& path) {
  auto state = std::make_unique<State>();
  state->path = path;
  state->temporary = fmt::format("{}.{}.partial", path, ::getpid());
  state->fd = ::open(state->temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (state->fd < 0) {
    state->error = errno;
    return state->failure();
  }
  const int copy = ::dup(state->fd);
  // "T" makes zlib write plain bytes.
  state->stream = copy < 0 ? nullptr : gzdopen(copy, path.ends_with(".gz") ? "wb6" : "wbT");
  if (state->stream == nullptr) {
    state->error = errno;
    if (copy >= 0) ::close(copy);
    return state->failure();
  }
  gzbuffer(state->stream, 1 << 18);
  return OutputFile(std::move(state));
}

void OutputFile::write(std::string_view bytes) {
  constexpr std::size_t kMost = 1U << 30;
  for (; !bytes.empty() && !state_->failed; bytes.remove_prefix(std::min(kMost, bytes.size()))) {
    const auto part = static_cast<unsigned>(std::min(kMost, bytes.size()));
    errno = 0;
    if (gzwrite(state_->stream, bytes.data(), part) != static_cast<int>(part)) {
      state_->failed = true;
      state_->error = errno;
    }
  }
}

Expected<void> OutputFile::commit() {
  State& state = *state_;
  errno = 0;
  const bool closed = gzclose(std::exchange(state.stream, nullptr)) == Z_OK;
  if (state.failed || !closed || ::fsync(state.fd) != 0 ||
      std::rename(state.temporary.c_str(), state.path.c_str()) != 0) {
    if (!state.failed) state.error = errno;
    return state.failure();
  }
  ::close(std::exchange(state.fd, -1));
  return {};
}

Expected<void> refuse_units(const Table& table) {
  if (!table.null_units().empty())
    return fail(
        ErrorKind::kUsage,
        "the output format can't say that a record is empty (a null unit). Correct the rows "
        "that don't fit instead of reading them with --no-refusals.");
  if (!table.has_units() || table.units() == table.rows()) return {};
  return fail(
      ErrorKind::kUsage,
      "the rows belong to persons (a unit column), and the output format can't say whose rows "
      "they are: a run on it would protect rows, not persons. Keep the CSV file and its "
      "schema.");
}

}  // namespace sotto
