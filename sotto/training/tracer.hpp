#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sotto/oracle/api/observer.hpp"
#include "sotto/privacy/ledger.hpp"
#include "sotto/record/run_record.hpp"
#include "sotto/training/thinned.hpp"

namespace sotto {

/// Remembers a run's trace and, for a private one, what had been spent; completes the reports of
/// steps with what only train() knows.
class Tracer final : public Observer {
 public:
  /// `row_visits`: the rows visited so far, by expected batch sizes, which are public. `ledger`:
  /// null if the run is not private.
  Tracer(Observer& next, std::function<double()> row_visits, std::int64_t n, const Ledger* ledger);

  bool keep_going(const StepReport& step) override;

  /// Whether the observer stopped the run before its last step. After that step it is too late.
  bool stopped() const { return stopped_; }

  std::vector<TracePoint> trace() { return trace_.take(); }
  /// With the run's end, whatever it released after the last step included.
  std::vector<SpentPoint> spending(std::int64_t steps);

  void archive(Archive& state);

 private:
  SpentPoint spent_after(std::int64_t step) const;
  double passes() const { return row_visits_() / n_; }

  Observer& next_;
  std::function<double()> row_visits_;
  double n_;
  const Ledger* ledger_;
  bool stopped_ = false;
  Thinned<TracePoint> trace_;
  Thinned<SpentPoint> spending_;
};

}  // namespace sotto
