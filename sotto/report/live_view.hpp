#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sotto {

/// What a terminal shows of a run while it goes on: public numbers, released values, and how fast
/// it is, which is for the eyes of whoever runs it and is kept nowhere. Only makes text; the
/// program decides where to put it.
class LiveView {
 public:
  /// `epsilon`: what the run costs, however early it stops; none: it is not private.
  /// `seeded`: by a known seed.
  LiveView(std::string method, std::optional<double> epsilon, bool seeded = false);

  /// After a step. `steps`: planned in all; `gradient_norm`: of the released gradient, 0 if none;
  /// `seconds`: since this program began, which may have been at a later step than the first;
  /// `examples`: rows visited so far.
  void step(std::int64_t step,
            std::int64_t steps,
            double step_size,
            double gradient_norm,
            double passes,
            double seconds,
            double examples = 0);

  /// Three lines of at most `width` columns: how far it is, what was released, the recent gradient
  /// norms as a curve. `unicode`: block characters instead of ASCII.
  std::vector<std::string> lines(std::size_t width, bool unicode) const;

 private:
  std::string method_;
  std::optional<double> epsilon_;
  bool seeded_;
  std::int64_t step_ = 0;
  std::int64_t steps_ = 0;
  double step_size_ = 0;
  double passes_ = 0;
  double seconds_ = 0;
  struct Point {
    std::int64_t step;
    double seconds;
    double examples;
  };
  std::optional<Point> first_;  ///< that was seen: speed is measured from there
  double examples_ = 0;
  /// Means over runs of `every_` steps; halved when full.
  std::vector<double> norms_;
  double sum_ = 0;
  std::int64_t summed_ = 0;
  std::int64_t every_ = 1;
};

/// Values as one line of bars on a logarithmic scale, the last `width` of them; those that are not
/// positive and finite are blanks.
std::string sparkline(const std::vector<double>& values, std::size_t width, bool unicode);

/// 75 as `1 min 15 s`.
std::string duration_text(double seconds);

}  // namespace sotto
