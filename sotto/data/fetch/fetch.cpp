#include "sotto/data/fetch/fetch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "sotto/core/stop.hpp"
#include "sotto/data/fetch/child.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> io(std::string text) { return fail(ErrorKind::kIo, std::move(text)); }

bool is_address(const std::string& text) {
  return text.starts_with("http://") || text.starts_with("https://");
}

/// curl's exit codes that people meet.
std::string reason(int code) {
  switch (code) {
    case 5:
    case 6:
      return "the host is unknown, or there is no network";
    case 7:
      return "no connection to the host";
    case 22:
      return "the server says that it is not there, or refuses";
    case 23:
      return "it can't be written";
    case 28:
      return "it took too long";
    case 35:
    case 60:
      return "the host's certificate is not trusted";
    case 130:
      return "interrupted";
    default:
      return fmt::format("curl ended with code {}", code);
  }
}

/// What a file may have before its checksum is known to be right: as much as the official one.
std::int64_t most_bytes(const KeptFile& file) {
  constexpr std::int64_t kUnknown = std::int64_t{64} << 20;
  return file.bytes > 0 ? file.bytes : kUnknown;
}

/// Of a packed one only what it unpacks to is known; an archive has further members, all small.
std::int64_t most_bytes(const RemoteFile& file) {
  constexpr std::int64_t kFrame = std::int64_t{1} << 20;
  std::int64_t bytes = file.packing == Packing::kPlain ? 0 : kFrame;
  for (const KeptFile& kept : file.kept) bytes += most_bytes(kept);
  return bytes;
}

void forget_file(const std::string& path) {
  std::error_code ignored;
  fs::remove(path, ignored);
}

int run_curl(const std::string& address,
             const std::string& path,
             std::int64_t most,
             const FetchOptions& options) {
  // Official places are https only; a mirror may be a plain server in one's own network.
  const std::string schemes = options.mirror.empty() ? "=https" : "=http,https";
  std::vector<std::string> arguments = {"curl",
                                        "--disable",
                                        "--fail",
                                        "--location",
                                        "--globoff",
                                        "--proto",
                                        schemes,
                                        "--proto-redir",
                                        schemes,
                                        "--connect-timeout",
                                        "30",
                                        "--retry",
                                        "2",
                                        "--speed-limit",
                                        "100",
                                        "--speed-time",
                                        "60",
                                        "--continue-at",
                                        "-",
                                        "--output",
                                        path,
                                        "--max-filesize",
                                        fmt::format("{}", most),
                                        "--url",
                                        address};
  arguments.insert(arguments.begin() + 2, options.progress ? "--progress-bar" : "--silent");
  return run_program(arguments, {"", options.progress, most});
}

/// To `part`, going on where an earlier try ended.
Expected<void> download(const std::string& address,
                        const std::string& part,
                        std::int64_t most,
                        const FetchOptions& options) {
  constexpr int kNoRanges = 33, kBadResume = 36;  // curl: the server can't go on in the middle
  constexpr int kTooLarge = 63;                   // curl: more was announced
  int code = run_curl(address, part, most, options);
  if (code == kNoRanges || code == kBadResume) {
    forget_file(part);
    code = run_curl(address, part, most, options);
  }
  if (code == 0) return {};
  if (code == kStopped) return stopped_early();
  std::error_code error;
  if (const auto size = fs::file_size(part, error);
      code == kTooLarge || (!error && size >= static_cast<std::uintmax_t>(most))) {
    forget_file(part);
    return fail(ErrorKind::kBadData,
                fmt::format("{} is not the official file: it is larger than {} bytes. Nothing was "
                            "kept.",
                            address,
                            most));
  }
  if (code == kNoSuchProgram)
    return io(
        "the program curl is not installed. Install it (apt install curl), or give "
        "‘mirror FOLDER’ with the files.");
  return io(fmt::format("can't download {}: {}.", address, reason(code)));
}

Expected<bool> is_right(const KeptFile& file, const std::string& path) {
  SOTTO_ASSIGN(const std::string found, sha256_of_file(path));
  return found == file.sha256;
}

/// Whether a kept file is there; kBadData if another one has its name.
Expected<bool> is_there(const KeptFile& file, const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return false;
  SOTTO_ASSIGN(const bool right, is_right(file, path));
  if (!right)
    return fail(ErrorKind::kBadData,
                fmt::format("{} is there, but is not the official file: its SHA-256 is not {}. "
                            "Move it away and fetch again.",
                            path,
                            file.sha256));
  return true;
}

/// Under the mirror folder, with the data set's name or without.
std::optional<std::string> find_in_mirror(const FetchOptions& options,
                                          const DataSet& set,
                                          const std::string& name) {
  std::error_code error;
  for (const auto& folder : {fs::path(options.mirror), fs::path(options.mirror) / set.name})
    if (fs::is_regular_file(folder / name, error)) return (folder / name).string();
  return {};
}

class Fetcher {
 public:
  Fetcher(const DataSet& set, const FetchOptions& options) : set_(set), options_(options) {}

  Expected<void> fetch(const RemoteFile& file) {
    if (!options_.mirror.empty() && !is_address(options_.mirror)) return from_folder(file);
    std::vector<std::string> places = file.places;
    if (!options_.mirror.empty()) places = {options_.mirror};
    Error last{ErrorKind::kIo, "no place is known."};
    for (std::string place : places) {
      while (place.ends_with('/')) place.pop_back();
      auto done = from_place(file, place + "/" + file.name);
      if (done) return {};
      last = done.error();
    }
    last.message +=
        " Try again later, or give ‘mirror’ with a folder or address that has the file.";
    return tl::unexpected<Error>(last);
  }

 private:
  std::string path(const std::string& name) const {
    return (fs::path(options_.folder) / name).string();
  }

  Expected<void> from_place(const RemoteFile& file, const std::string& address) {
    const std::string part = path(file.name + ".part");
    // An earlier try may have ended after the last byte.
    bool complete = false;
    if (std::error_code error; !file.sha256.empty() && fs::exists(part, error)) {
      SOTTO_ASSIGN(const std::string found, sha256_of_file(part));
      complete = found == file.sha256;
    }
    if (!complete) SOTTO_TRY(download(address, part, most_bytes(file), options_));
    auto done = unpack(file, part, address);
    forget_file(part);  // right or wrong: what is left of it would only be in the way
    return done;
  }

  Expected<void> from_folder(const RemoteFile& file) {
    if (const auto found = find_in_mirror(options_, set_, file.name)) {
      const std::string part = path(file.name + ".part");
      SOTTO_TRY(copy(*found, part, most_bytes(file)));
      auto done = unpack(file, part, *found);
      forget_file(part);
      return done;
    }
    for (const auto& kept : file.kept) {
      const auto found = find_in_mirror(options_, set_, kept.path);
      if (!found)
        return io(
            fmt::format("{} has neither {} nor {}. Give the folder that holds the files "
                        "under their official names.",
                        options_.mirror,
                        file.name,
                        kept.path));
      const std::string part = path(kept.path + ".part");
      SOTTO_TRY(copy(*found, part, most_bytes(kept)));
      SOTTO_TRY(keep(kept, part, *found));
    }
    return {};
  }

  static Expected<void> copy(const std::string& from, const std::string& to, std::int64_t most) {
    std::error_code error;
    if (const auto size = fs::file_size(from, error);
        !error && size > static_cast<std::uintmax_t>(most))
      return fail(ErrorKind::kBadData,
                  fmt::format("{} is not the official file: it is larger than {} bytes. Nothing "
                              "was kept.",
                              from,
                              most));
    fs::create_directories(fs::path(to).parent_path(), error);
    fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
    if (error) return io(fmt::format("can't copy {} to {}: {}.", from, to, error.message()));
    return {};
  }

  /// Checks what came and gives it its name.
  Expected<void> keep(const KeptFile& kept, const std::string& part, const std::string& origin) {
    SOTTO_ASSIGN(const std::string found, sha256_of_file(part));
    if (found != kept.sha256) {
      forget_file(part);
      return fail(ErrorKind::kBadData,
                  fmt::format("{} from {} is not the official file: its SHA-256 is {}, but must be "
                              "{}. Nothing was kept.",
                              kept.path,
                              origin,
                              found,
                              kept.sha256));
    }
    std::error_code error;
    fs::create_directories(fs::path(path(kept.path)).parent_path(), error);
    fs::rename(part, path(kept.path), error);
    if (error) return io(fmt::format("can't write {}: {}.", path(kept.path), error.message()));
    return {};
  }

  Expected<void> unpack(const RemoteFile& file,
                        const std::string& part,
                        const std::string& origin) {
    if (file.packing == Packing::kPlain) return keep(file.kept[0], part, origin);
    if (!file.sha256.empty()) {
      SOTTO_ASSIGN(const std::string found, sha256_of_file(part));
      if (found != file.sha256)
        return fail(ErrorKind::kBadData,
                    fmt::format("{} is not the official file: its SHA-256 is {}, but must be {}. "
                                "Nothing was kept.",
                                origin,
                                found,
                                file.sha256));
    }
    if (file.packing == Packing::kBzip2) {
      const std::string plain = path(file.kept[0].path + ".part");
      SOTTO_TRY(run_unpacker(
          {"bzip2", "-dc", "--", part}, {plain, false, most_bytes(file.kept[0])}, origin));
      return keep(file.kept[0], plain, origin);
    }
    const std::string folder = path(file.name + ".unpacked");
    std::error_code error;
    fs::create_directories(folder, error);
    std::vector<std::string> arguments = {"tar",
                                          "--extract",
                                          "--gzip",
                                          "--force-local",
                                          "--no-same-owner",
                                          "--file=" + part,
                                          "--directory=" + folder,
                                          "--"};
    for (const auto& kept : file.kept) arguments.push_back(kept.path);
    std::int64_t largest = 0;
    for (const auto& kept : file.kept) largest = std::max(largest, most_bytes(kept));
    auto done = run_unpacker(arguments, {"", false, largest}, origin);
    for (const auto& kept : file.kept)
      if (done) done = keep(kept, (fs::path(folder) / kept.path).string(), origin);
    fs::remove_all(folder, error);
    return done;
  }

  static Expected<void> run_unpacker(const std::vector<std::string>& arguments,
                                     const ProgramOptions& options,
                                     const std::string& origin) {
    const int code = run_program(arguments, options);
    if (code == 0) return {};
    if (!options.output.empty()) forget_file(options.output);
    if (code == kStopped) return stopped_early();
    if (code == kNoSuchProgram)
      return io(fmt::format("the program {0} is not installed. Install it (apt install {0}).",
                            arguments[0]));
    return fail(ErrorKind::kBadData,
                fmt::format("{} can't be unpacked: {} ended with code {}. It is damaged or not the "
                            "official file.",
                            origin,
                            arguments[0],
                            code));
  }

  const DataSet& set_;
  const FetchOptions& options_;
};

}  // namespace

Expected<std::vector<FetchedFile>> fetch(const DataSet& set,
                                         const FetchOptions& options,
                                         const std::function<void(const FetchedFile&)>& report) {
  std::error_code error;
  if (!options.mirror.empty() && !is_address(options.mirror) &&
      !fs::is_directory(options.mirror, error))
    return fail(ErrorKind::kUsage,
                fmt::format("‘mirror’ must be a folder or an http(s) address, but is '{}'.",
                            options.mirror));
  fs::create_directories(options.folder, error);
  if (!fs::is_directory(options.folder, error))
    return io(fmt::format("can't make the folder {}. Choose another ‘out’.", options.folder));
  std::vector<FetchedFile> fetched;
  for (const auto& file : set.files) {
    bool complete = true;
    for (const auto& kept : file.kept) {
      SOTTO_ASSIGN(const bool there,
                   is_there(kept, (fs::path(options.folder) / kept.path).string()));
      complete = complete && there;
    }
    if (!complete) SOTTO_TRY(Fetcher(set, options).fetch(file));
    for (const auto& kept : file.kept) {
      FetchedFile done;
      done.path = (fs::path(options.folder) / kept.path).string();
      done.bytes = static_cast<std::int64_t>(fs::file_size(done.path, error));
      done.was_there = complete;
      if (report) report(done);
      fetched.push_back(std::move(done));
    }
  }
  return fetched;
}

}  // namespace sotto
