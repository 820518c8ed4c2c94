#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace sotto {

/// Memory put aside before a budget is spent, for what must not fail afterwards. To be refused it
/// costs nothing yet.
class Reserve {
 public:
  explicit Reserve(std::size_t bytes);
  Reserve(Reserve&&) noexcept = default;
  Reserve& operator=(Reserve&&) noexcept = default;
  ~Reserve();

  void release() noexcept;

  /// Does the work. Where memory runs out it lets go of what was put aside and does the work again,
  /// which must be as good twice as once.
  template <class Work>
  auto spend_on(const Work& work) {
    try {
      return work();
    } catch (const std::bad_alloc&) {
      if (!bytes_) throw;
      release();
    }
    return work();
  }

 private:
  std::unique_ptr<std::byte[]> bytes_;
};

}  // namespace sotto
