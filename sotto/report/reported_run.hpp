#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/record/run_record.hpp"

namespace sotto {

/// A run as its record's file tells it, whichever version and kind of model wrote it: what is
/// missing in the file is empty here.
struct ReportedRun {
  std::string label;  ///< tells runs of a comparison apart
  RunRecord record;   ///< without `test`, and `spending` without events
  /// Metrics on the public test rows by name, in the order in which they are shown.
  std::vector<std::pair<std::string, double>> test;
  std::vector<std::vector<std::int64_t>> confusion;  ///< [truth][prediction]
  /// What `sotto verify` found, where it was asked: the price by each accountant, and what can't be
  /// true at once.
  std::vector<std::pair<std::string, double>> prices;
  std::vector<std::string> contradictions;

  std::optional<double> metric(const std::string& name) const;
  /// The run's releases were chosen as it went, under a filter.
  bool by_filter() const;
};

/// Reads a record's JSON. What is no record, or of a newer version, or misses what every version
/// had, is a bad-data error that begins with `source`.
Expected<ReportedRun> reported_run(const nlohmann::json& json,
                                   std::string label,
                                   const std::string& source);

/// The JSON of a file that `sotto train --record` wrote.
Expected<nlohmann::json> load_record(const std::string& path);

/// A run from such a file; the label is the file's name without its extension.
Expected<ReportedRun> load_run(const std::string& path);

}  // namespace sotto
