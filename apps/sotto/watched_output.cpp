#include "watched_output.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "sotto/random/stream.hpp"

namespace sotto::app {

Expected<WatchedOutput> WatchedOutput::at(const std::string& path) {
  WatchedOutput output;
  if (path.empty()) return output;
  output.path_ = path;
  SOTTO_ASSIGN(output.before_, identity_at(path));
  return output;
}

Expected<bool> WatchedOutput::is_free() const {
  SOTTO_ASSIGN(const auto now, identity_at(path_));
  return !now || (before_ && now->same_content(*before_));
}

Expected<std::string> WatchedOutput::place() {
  SOTTO_ASSIGN(const bool free, is_free());
  if (free) return path_;
  const std::filesystem::path path(path_);
  const std::string name = fmt::format("{}-{:016x}{}",
                                       path.stem().string(),
                                       Stream::secure(Purpose::kSelection).next(),
                                       path.extension().string());
  elsewhere_ = (path.parent_path() / name).string();
  return elsewhere_;
}

Expected<void> WatchedOutput::check() const {
  if (elsewhere_.empty()) return {};
  return fail(ErrorKind::kIo,
              fmt::format("{} was written by another run since this one began, and was left as it "
                          "is: this run's is in {}. Give every run a path of its own.",
                          path_,
                          elsewhere_));
}

}  // namespace sotto::app
