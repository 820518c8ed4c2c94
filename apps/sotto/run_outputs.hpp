#pragma once

#include <string>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/vector.hpp"
#include "sotto/oracle/api/observer.hpp"
#include "sotto/record/run_record.hpp"
#include "sotto/training/thinned.hpp"
#include "verb.hpp"
#include "watched_output.hpp"

namespace sotto::app {

/// `--record`, `--report` and `--plot` of a training verb.
class RunOutputs {
 public:
  void add_to(Verb& verb);
  /// To be called before anything is spent: a wrong path, or gnuplot missing, must not cost budget.
  /// (That none of them is another file of the command has been seen: Verb::check_paths.) From then
  /// on it is known if another run writes there.
  Expected<void> check();
  bool wanted() const;
  const std::string& record_path() const { return record_path_; }
  /// Completes the record (command line, options with their origin, prices over time) and writes
  /// what was asked for. What another run wrote since check() is not overwritten: then it is kIo,
  /// and says where this run's is.
  Expected<void> write(RunRecord& record);

 private:
  const Verb* verb_ = nullptr;
  std::string record_path_;
  std::string report_path_;
  std::string plot_path_;
  WatchedOutput record_, report_, plot_;
};

/// Copies of a few iterates, for their metrics on public rows. They were released: looking costs
/// nothing.
class KeptIterates final : public Observer {
 public:
  struct Point {
    std::int64_t step = 0;
    double passes = 0;
    Vector w;
  };

  /// `wanted` false: keeps none. `most`: fewer where memory asks for it.
  KeptIterates(Observer& next, std::int64_t dimension, bool wanted, std::int64_t most = 32);
  bool keep_going(const StepReport& report) override;
  std::vector<Point> take() { return points_.take(); }

 private:
  Observer& next_;
  Thinned<Point> points_;
};

}  // namespace sotto::app
