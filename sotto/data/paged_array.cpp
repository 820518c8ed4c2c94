#include "sotto/data/paged_array.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

namespace sotto {

Expected<PageFile> PageFile::create(const std::string& folder, std::size_t bytes) {
  std::string where = folder;
  if (const char* chosen = std::getenv("TMPDIR"); where.empty() && chosen != nullptr)
    where = chosen;
  if (where.empty()) where = "/tmp";
  const auto refuse = [&](int error) {
    return fail(ErrorKind::kIo,
                fmt::format("no room for {} MB in {}: {}. Set TMPDIR to a folder with more room.",
                            bytes >> 20,
                            where,
                            std::strerror(error)));
  };
  PageFile file;
  std::string name = where + "/sotto-pages-XXXXXX";
  file.descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);  // readable by this user alone
  if (file.descriptor_ < 0) return refuse(errno);
  ::unlink(name.c_str());
  // Reserved, not only announced: a full disk must be an error here, not a signal at a later write.
  if (const int error = ::posix_fallocate(file.descriptor_, 0, static_cast<off_t>(bytes)))
    return refuse(error);
  return file;
}

PageFile::~PageFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

namespace internal {

std::size_t round_to_pages(std::size_t bytes) {
  static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

void* remap_pages(void* pages, std::size_t old_bytes, std::size_t new_bytes, int file) {
  void* result = nullptr;
  if (new_bytes == 0) {
    if (pages != nullptr) munmap(pages, old_bytes);
    return nullptr;
  }
  if (file >= 0 && new_bytes > old_bytes &&
      ::posix_fallocate(file, 0, static_cast<off_t>(new_bytes)) != 0)
    throw std::bad_alloc();
  if (pages == nullptr) {
    result = mmap(nullptr,
                  new_bytes,
                  PROT_READ | PROT_WRITE,
                  file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS,
                  file,
                  0);
  } else {
    result = mremap(pages, old_bytes, new_bytes, MREMAP_MAYMOVE);
  }
  if (result == MAP_FAILED) throw std::bad_alloc();
  return result;
}

}  // namespace internal
}  // namespace sotto
