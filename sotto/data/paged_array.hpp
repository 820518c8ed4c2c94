#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "sotto/core/error.hpp"

namespace sotto {

namespace internal {
/// Maps, grows, shrinks or (new_bytes == 0) unmaps whole pages; new pages read as zeros. Growing
/// moves page tables, not bytes. Throws std::bad_alloc.
/// `file`: the pages are those of this file, from its beginning; -1: of memory.
void* remap_pages(void* pages, std::size_t old_bytes, std::size_t new_bytes, int file);
std::size_t round_to_pages(std::size_t bytes);
}  // namespace internal

/// Disk space for pages that memory has no room for: a file without a name, which nobody else can
/// open and which is gone with the process.
class PageFile {
 public:
  /// With `bytes` reserved in `folder`, or in $TMPDIR or /tmp if that is empty. kIo if there is no
  /// room.
  static Expected<PageFile> create(const std::string& folder, std::size_t bytes);
  PageFile(PageFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  PageFile& operator=(PageFile&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~PageFile();
  PageFile() = default;  ///< none: pages of memory

  int descriptor() const { return descriptor_; }

 private:
  int descriptor_ = -1;
};

/// A growable array on pages of its own: page-aligned, new elements are zero, and growing neither
/// copies elements nor ever holds two copies of them, so a table's peak memory is its size.
template <class T>
class PagedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  PagedArray() = default;
  PagedArray(PagedArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        bytes_(std::exchange(other.bytes_, 0)),
        file_(std::move(other.file_)) {}
  /// An empty array whose pages will be the file's.
  explicit PagedArray(PageFile file) : file_(std::move(file)) {}
  PagedArray& operator=(PagedArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(bytes_, other.bytes_);
    std::swap(file_, other.file_);
    return *this;
  }
  ~PagedArray() { internal::remap_pages(data_, bytes_, 0, -1); }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return data_[i]; }              // NOLINT: i < size()
  const T& operator[](std::size_t i) const { return data_[i]; }  // NOLINT: i < size()
  std::span<T> span() { return {data_, size_}; }
  std::span<const T> span() const { return {data_, size_}; }

  /// Adds zeros up to `count` elements. Pages are reserved ahead, but use no memory until written.
  void grow(std::size_t count) {
    if (const std::size_t need = count * sizeof(T); need > bytes_)
      set_bytes(need > bytes_ + bytes_ / 2 ? need : bytes_ + bytes_ / 2);
    if (count > size_) size_ = count;
  }

  /// Drops the elements from `count` on and gives the spare pages back. Don't grow afterwards: the
  /// rest of the last page keeps what it held.
  void truncate(std::size_t count) {
    if (count < size_) size_ = count;
    set_bytes(size_ * sizeof(T));
  }

 private:
  void set_bytes(std::size_t bytes) {
    bytes = internal::round_to_pages(bytes);
    if (bytes == bytes_) return;
    data_ = static_cast<T*>(internal::remap_pages(data_, bytes_, bytes, file_.descriptor()));
    bytes_ = bytes;
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t bytes_ = 0;
  PageFile file_;
};

}  // namespace sotto
