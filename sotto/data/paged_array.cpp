#include "sotto/data/paged_array.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace sotto::internal {

std::size_t round_to_pages(std::size_t bytes) {
  static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

void* remap_pages(void* pages, std::size_t old_bytes, std::size_t new_bytes) {
  void* result = nullptr;
  if (new_bytes == 0) {
    if (pages != nullptr) munmap(pages, old_bytes);
    return nullptr;
  }
  if (pages == nullptr) {
    result = mmap(nullptr, new_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  } else {
    result = mremap(pages, old_bytes, new_bytes, MREMAP_MAYMOVE);
  }
  if (result == MAP_FAILED) throw std::bad_alloc();
  return result;
}

}  // namespace sotto::internal
