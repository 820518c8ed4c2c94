#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "sotto/core/check.hpp"
#include "sotto/core/error.hpp"
#include "sotto/optimizer/optimizer.hpp"

namespace sotto {

/// The answer, or none if the budget refused it.
template <class T>
Expected<std::optional<T>> unless_spent(Expected<T> answer) {
  if (answer) return std::optional<T>(std::in_place, *std::move(answer));
  if (answer.error().kind == ErrorKind::kBudget) return std::optional<T>();
  return tl::unexpected<Error>(std::move(answer).error());
}

/// The plumbing of a method's loop: counts its steps, shows them to the observer, shows the run's
/// state to whoever writes it down, and knows why the run ended.
///
///   Steps steps(observer, T);
///   SOTTO_TRY(steps.begin([&](Archive& state) { state("iterate", w); }));
///   while (steps.next()) {
///     SOTTO_ASSIGN(const auto g, steps.unless_spent(oracle.gradient(query(w))));
///     if (!g) break;
///     w -= eta * g->value();
///     steps.finish(eta, g->value().norm(), &w);
///   }
///   return steps.result(w);
class Steps {
 public:
  /// What a refusal before the first step is. A plan was granted as a whole, so that nothing of it
  /// can be refused: an error. A filter may have nothing left: the end of the run.
  enum class Budget { kPlan, kFilter };

  Steps(Observer& observer, std::int64_t planned, Budget budget = Budget::kPlan)
      : observer_(observer), planned_(planned), budget_(budget) {}
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;

  /// Once, before the first step. `state` visits all else that the loop carries from one step to
  /// the next, and must stay valid as long as this object is used. Of a resumed run, made() is then
  /// above 0.
  Expected<void> begin(Archived state) {
    return observer_.begin([this, state = std::move(state)](Archive& archive) {
      archive("planned", planned_, 1, planned_)("step", made_, 1, planned_);
      state(archive);
    });
  }

  /// For a plan that only an answer decides: fewer steps than were allowed for.
  void plan(std::int64_t planned) {
    SOTTO_CHECK(made_ == 0 && planned <= planned_);
    planned_ = planned;
  }
  std::int64_t planned() const { return planned_; }

  /// Whether there is another step to make.
  bool next() const { return !ended_ && made_ < planned_; }
  /// The steps that were made, which is the number of the current one, counted from 0.
  std::int64_t made() const { return made_; }

  /// An answer that the current step needs. None if the budget refused it, which ends the run: that
  /// of a filter, or of a plan of which some steps had to be paid for twice.
  template <class T>
  Expected<std::optional<T>> unless_spent(Expected<T> answer) {
    if (!answer && budget_ == Budget::kPlan && made_ == 0)
      return tl::unexpected<Error>(std::move(answer).error());
    auto granted = sotto::unless_spent(std::move(answer));
    if (granted && !*granted) end(StopReason::kBudgetSpent);
    return granted;
  }

  /// The current step is made, and all of the state that it changes is in place. Asks the observer
  /// whether to go on; after the last step it is too late for a no.
  void finish(double step_size, double gradient_norm, const Vector* iterate) {
    ++made_;
    const bool on = observer_.keep_going({made_, planned_, step_size, gradient_norm, iterate});
    if (!on && made_ < planned_) end(StopReason::kStoppedEarly);
  }

  /// There is no further step; nor the current one, unless it `is_made`.
  void end(StopReason why, bool is_made = false) {
    made_ += is_made ? 1 : 0;
    why_ = why;
    ended_ = true;
  }

  OptimizerResult result(Vector w) const { return {std::move(w), made_, why_}; }

 private:
  Observer& observer_;
  std::int64_t planned_;
  Budget budget_;
  std::int64_t made_ = 0;
  bool ended_ = false;
  StopReason why_ = StopReason::kPlanComplete;
};

}  // namespace sotto
