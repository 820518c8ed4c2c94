#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sotto {

/// Keeps at most `most` (even) of a run's points: those of every k-th step, k doubling whenever it
/// is full.
template <class Point>
class Thinned {
 public:
  explicit Thinned(std::size_t most) : most_(most) {}

  /// Steps are offered in order, from 1; `make` is only called for points that are kept.
  template <class Make>
  void offer(std::int64_t step, const Make& make) {
    if (most_ == 0 || step % every_ != 0) return;
    if (points_.size() == most_) {
      for (std::size_t k = 0; 2 * k + 1 < points_.size(); ++k)
        points_[k] = std::move(points_[2 * k + 1]);
      points_.resize(most_ / 2);
      every_ *= 2;
      if (step % every_ != 0) return;
    }
    points_.push_back(make());
  }

  std::vector<Point> take() { return std::move(points_); }

 private:
  std::size_t most_;
  std::int64_t every_ = 1;
  std::vector<Point> points_;
};

}  // namespace sotto
