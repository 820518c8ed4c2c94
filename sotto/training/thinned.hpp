#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sotto {

/// Keeps about `most` of a run's points: those of every k-th step, k doubling whenever there are
/// too many, and, if there is room for at least kRoomy, those of steps 1, 2, 4, 8, …, where most
/// changes.
template <class Point>
class Thinned {
 public:
  explicit Thinned(std::size_t most) : most_(most) {}

  static constexpr std::size_t kRoomy = 32;

  /// Steps are offered in order, from 1; `make` is only called for points that are kept.
  template <class Make>
  void offer(std::int64_t step, const Make& make) {
    if (most_ == 0 || !keeps(step)) return;
    // There are at most 64 powers of two, so this ends.
    while (points_.size() >= most_ && every_ < step) {
      every_ *= 2;
      std::erase_if(points_, [&](const auto& kept) { return !keeps(kept.first); });
    }
    if (keeps(step)) points_.emplace_back(step, make());
  }

  /// With room for `more`. If memory runs out nothing was taken.
  std::vector<Point> take(std::size_t more = 0) {
    std::vector<Point> points;
    points.reserve(points_.size() + more);
    for (auto& [step, point] : std::exchange(points_, {})) points.push_back(std::move(point));
    return points;
  }

  /// For a run that is continued: its points so far, by step, and every how many steps they are
  /// kept.
  std::vector<std::pair<std::int64_t, Point>>& points() { return points_; }
  std::int64_t& every() { return every_; }

 private:
  bool keeps(std::int64_t step) const {
    return step % every_ == 0 ||
           (most_ >= kRoomy && std::has_single_bit(static_cast<std::uint64_t>(step)));
  }

  std::size_t most_;
  std::int64_t every_ = 1;
  std::vector<std::pair<std::int64_t, Point>> points_;
};

}  // namespace sotto
