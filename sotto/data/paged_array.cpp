#include "sotto/data/paged_array.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
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

namespace {

// Batches read rows from all over a table: only with large pages do their addresses stay known to
// the processor.
constexpr std::size_t kLargePage = std::size_t{2} << 20;

/// Anonymous pages from a multiple of kLargePage on.
void* map_aligned(std::size_t bytes) {
  const std::size_t room = bytes + kLargePage;
  void* pages = mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return pages;
  auto* begin = static_cast<char*>(pages);
  const std::size_t before =
      (kLargePage - reinterpret_cast<std::uintptr_t>(begin) % kLargePage) % kLargePage;
  if (before > 0) munmap(begin, before);
  munmap(begin + before + bytes, room - before - bytes);
  return begin + before;
}

/// As mremap, but keeps the pages where large ones may be.
void* remap_aligned(void* pages, std::size_t old_bytes, std::size_t new_bytes) {
  void* result = mremap(pages, old_bytes, new_bytes, 0);
  if (result != MAP_FAILED) return result;
  result = map_aligned(new_bytes);
  if (result == MAP_FAILED) return result;
  return mremap(pages, old_bytes, new_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, result);
}

}  // namespace

void* remap_pages(void* pages, std::size_t old_bytes, std::size_t new_bytes, int file) {
  if (new_bytes == 0) {
    if (pages != nullptr) munmap(pages, old_bytes);
    return nullptr;
  }
  void* result = nullptr;
  if (file >= 0) {
    if (new_bytes > old_bytes && ::posix_fallocate(file, 0, static_cast<off_t>(new_bytes)) != 0)
      throw std::bad_alloc();
    result = pages == nullptr
                 ? mmap(nullptr, new_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                 : mremap(pages, old_bytes, new_bytes, MREMAP_MAYMOVE);
  } else {
    result = pages == nullptr ? map_aligned(new_bytes) : remap_aligned(pages, old_bytes, new_bytes);
  }
  if (result == MAP_FAILED) throw std::bad_alloc();
  // Best effort: a system without large pages refuses.
  if (file < 0 && new_bytes >= kLargePage) madvise(result, new_bytes, MADV_HUGEPAGE);
  return result;
}

}  // namespace internal
}  // namespace sotto
