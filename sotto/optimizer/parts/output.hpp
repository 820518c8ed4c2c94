#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/vector.hpp"
#include "sotto/optimizer/option_table.hpp"
#include "sotto/optimizer/parts/tail_average.hpp"
#include "sotto/oracle/api/oracle.hpp"

namespace sotto {

/// Which of a run's iterates is the model. All iterates are released already, so only `kBest`
/// looks at the data once more, and pays for it.
enum class OutputKind {
  kLast,
  kAverage,  ///< the mean of the last `average` of the steps
  kRandom,   ///< that after a uniformly random step, whose number is drawn before the run, which
             ///< then makes no further step and is calibrated for those it makes
  kRandomBefore,  ///< that at which the drawn step is taken, so that the start is one of them: the
                  ///< papers' law. Its last release is the noisy gradient at the model
  kBest,  ///< of `candidates` evenly spaced iterates, by the exponential mechanism on clipped
          ///< losses plus the regularizer
};

struct OutputOptions {
  OutputKind output = OutputKind::kLast;
  double average = 0;
  std::optional<std::int64_t> drawn_steps;  ///< random: the steps to make
  std::int64_t candidates = 8;
  double selection_share = 0.1;  ///< of the budget, for best
  double loss_clip = 2;
};

template <class Options>
void add_output_options(OptionTable<Options>& table) {
  table
      .choice(
          "output",
          &Options::output,
          {{OutputKind::kLast, "last"},
           {OutputKind::kAverage, "average"},
           {OutputKind::kRandom, "random"},
           {OutputKind::kRandomBefore, "random_before"},
           {OutputKind::kBest, "best"}},
          "which iterate is the model; random: that after a step that is drawn first, and only so "
          "many are made and paid for; random_before: that at which it is taken, which may be the "
          "start; best: chosen privately by clipped losses")
      .number("average",
              &Options::average,
              "share of last iterates that are averaged; 0 returns the last one")
      .range(0, 1)
      .integer("drawn_steps", &Options::drawn_steps, "output random: the drawn number of steps")
      .integer("candidates", &Options::candidates, "output best: iterates to choose from")
      .range(2, 1000)
      .number("selection_share", &Options::selection_share, "output best: its share of the budget")
      .range(above(0), below(1))
      .number("loss_clip", &Options::loss_clip, "output best: per-unit losses are clipped to this")
      .positive();
}

/// Refuses settings that don't go together; `steps` is none if it is still open.
Expected<void> check(const OutputOptions& options, std::optional<std::int64_t> steps);

/// Fills what follows from the number of steps and a uniform number in [0, 1) that was drawn before
/// the run.
void fill_output(OutputOptions& options, std::int64_t steps, double coin);

inline bool is_drawn(OutputKind kind) {
  return kind == OutputKind::kRandom || kind == OutputKind::kRandomBefore;
}

/// Collects a run's iterates and ends it.
class Output {
 public:
  /// `options` filled.
  Output(const OutputOptions& options, std::int64_t steps);

  /// How many steps are made.
  std::int64_t steps() const { return steps_; }

  /// What `best` asks at the end, where the steps themselves cost as much as one full-batch
  /// Gaussian release with the multiplier `total_multiplier`; none for other outputs.
  std::optional<Event> event(double total_multiplier, Relation relation) const;
  std::int64_t noise_samples() const { return selects() ? 1 : 0; }
  /// Plan::further_passes.
  double further_passes() const {
    return selects() ? static_cast<double>(std::min(options_.candidates, steps_) - 1) : 0;
  }

  /// Where the next step is taken.
  void before_step(const Vector& w);
  /// What the step made.
  void add(const Vector& w);
  /// The model. `best` falls back to the last iterate where the budget is gone, which only a run
  /// that had to repeat steps can meet.
  Expected<Vector> take(Oracle& oracle, double total_multiplier);

  void archive(Archive& state);

 private:
  /// Of one iterate there is nothing to choose.
  bool selects() const { return options_.output == OutputKind::kBest && steps_ > 1; }
  SelectionQuery query(double total_multiplier) const;

  OutputOptions options_;
  std::int64_t steps_;
  TailAverage average_;
  Vector before_;
  std::int64_t seen_ = 0;
  std::vector<Vector> candidates_;
};

}  // namespace sotto
