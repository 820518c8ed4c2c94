#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "sotto/core/archive.hpp"
#include "sotto/core/vector.hpp"

namespace sotto {

/// The mean of the last `share` of T iterates; share 0 keeps the last iterate alone. Free: the
/// iterates are released already.
class TailAverage {
 public:
  TailAverage(double share, std::int64_t steps)
      : skip_(steps - std::max<std::int64_t>(1, std::llround(share * static_cast<double>(steps)))) {
  }

  void add(const Vector& w) {
    if (seen_++ < skip_) {
      last_ = w;  // what value() is if the run ends before the tail begins
      return;
    }
    ++count_;
    if (count_ == 1)
      last_ = w;
    else
      last_ += (w - last_) / static_cast<double>(count_);
  }

  const Vector& value() const { return last_; }

  void archive(Archive& state) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    state("seen", seen_, 1, kMost)("averaged", count_, 0, kMost)("value", last_);
  }

 private:
  std::int64_t skip_;
  std::int64_t seen_ = 0;
  std::int64_t count_ = 0;
  Vector last_;
};

}  // namespace sotto
