#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sotto/objective/engine.hpp"
#include "sotto/study/data_sets.hpp"
#include "sotto/study/published/formula.hpp"
#include "sotto/study/results.hpp"
#include "sotto/task/family.hpp"
#include "sotto/training/train.hpp"

namespace sotto::study {

/// One way to fill one cell, run several times.
class CellRun {
 public:
  /// Fails on settings that make no sense. All arguments must outlive the object.
  static Expected<CellRun> make(const StudySpec& spec,
                                const CellSpec& cell,
                                const ArmSpec& arm,
                                const DataSet& data);

  /// A run that `watch` stops counts as it is; drop the object then.
  Expected<void> add_run(std::uint64_t seed, Observer& watch);

  /// Means and deviations over the runs so far, and what they cost.
  Expected<ArmResult> result() const;

  /// The least objective that Newton's method without privacy finds.
  Expected<double> optimum() const;
  void set_optimum(double value) { optimum_ = value; }

 private:
  struct Photo {
    double steps = 0, passes = 0;
    std::map<std::string, double> values;
  };
  class Camera;

  CellRun(const StudySpec& spec, const CellSpec& cell, const ArmSpec& arm, const DataSet& data)
      : spec_(&spec), cell_(&cell), arm_(&arm), data_(&data) {}

  Expected<std::unique_ptr<const Family>> make_family() const;
  Metrics tested(const Table& rows, const Vector& w) const;
  GivenOptions options_for(std::uint64_t seed) const;
  Expected<double> price(const Event& releases) const;
  bool wants(std::string_view measure) const;
  /// Whether the curvature is good at w.
  bool escaped(const Vector& w) const;
  std::map<std::string, double> measure(const TrainResult& run) const;
  std::vector<CurvePoint> curve() const;

  const StudySpec* spec_;
  const CellSpec* cell_;
  const ArmSpec* arm_;
  const DataSet* data_;
  std::unique_ptr<const Family> family_;
  PublicProblem problem_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Engine> held_out_;  ///< over the test rows; null for networks, and without any
  double delta_ = 0;
  double noise_delta_ = 0;  ///< of the formula: the paper's n decides it where delta is 1/n
  bool is_private_ = true;
  PublishedNoise noise_;
  std::optional<double> optimum_;
  std::map<std::string, std::vector<double>> values_;
  std::vector<std::vector<Photo>> photos_;
  double epsilon_ = 0;
  std::string accountant_;
  std::string settings_;
};

}  // namespace sotto::study
