#include "tests/faults/lossy_disk.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/support/temp_dir.hpp"

namespace sotto::testing {

namespace fs = std::filesystem;

LossyDisk::LossyDisk(std::string folder, Fault fault, Forgotten forgotten)
    : FaultyDisk(fault), folder_(std::move(folder)), forgotten_(forgotten), names_(names_now()) {
  for (const auto& [name, inode] : names_) contents_[inode] = TempDir::read(folder_ + "/" + name);
}

std::map<std::string, ino_t> LossyDisk::names_now() const {
  std::map<std::string, ino_t> names;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    struct stat facts {};
    if (entry.is_regular_file() && ::stat(entry.path().c_str(), &facts) == 0)
      names[entry.path().filename().string()] = facts.st_ino;
  }
  return names;
}

int LossyDisk::open(const char* path, int flags, mode_t mode) {
  const int file = FaultyDisk::open(path, flags, mode);
  struct stat facts {};
  // A new file may have the number of one that is gone.
  if (file >= 0 && (flags & O_EXCL) != 0 && ::fstat(file, &facts) == 0)
    contents_.erase(facts.st_ino);
  return file;
}

int LossyDisk::sync(int file) {
  const int result = FaultyDisk::sync(file);
  struct stat facts {};
  if (result != 0 || ::fstat(file, &facts) != 0) return result;
  if (S_ISDIR(facts.st_mode) ? forgotten_ == Forgotten::kFolders : forgotten_ == Forgotten::kFiles)
    return result;
  if (S_ISDIR(facts.st_mode))
    names_ = names_now();
  else
    contents_[facts.st_ino] = TempDir::read(fmt::format("/proc/self/fd/{}", file));
  return result;
}

void LossyDisk::lose_power(Kept kept) {
  const auto names = names_now();
  std::map<std::string, std::string> found;
  for (const auto& [name, inode] : kept == Kept::kNothing ? names_ : names) {
    std::string content = contents_.contains(inode) ? contents_.at(inode) : "";
    if (kept == Kept::kHalf) {
      const std::string all = TempDir::read(folder_ + "/" + name);
      if (all.size() > content.size() && all.starts_with(content))
        content = all.substr(0, content.size() + (all.size() - content.size()) / 2);
    }
    found[name] = std::move(content);
  }
  for (const auto& [name, unused] : names) fs::remove(folder_ + "/" + name);
  for (const auto& [name, content] : found) {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << content;
    fs::permissions(folder_ + "/" + name, fs::perms::owner_read | fs::perms::owner_write);
  }
}

}  // namespace sotto::testing
