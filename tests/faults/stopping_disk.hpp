#pragma once

#include "sotto/core/stop.hpp"
#include "tests/faults/faulty_disk.hpp"

namespace sotto::testing {

/// A disk on which the program is asked to end at the k-th sync of its journal.
class StoppingDisk final : public FaultyDisk {
 public:
  explicit StoppingDisk(std::int64_t at) : at_(at) {}
  int sync_data(int file) override {
    if (++syncs_ == at_) request_stop();
    return FaultyDisk::sync_data(file);
  }
  std::int64_t syncs() const { return syncs_; }

 private:
  std::int64_t at_;
  std::int64_t syncs_ = 0;
};

}  // namespace sotto::testing
