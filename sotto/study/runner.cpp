#include "sotto/study/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>

#include "sotto/core/file.hpp"
#include "sotto/core/json.hpp"
#include "sotto/core/processor.hpp"
#include "sotto/core/version.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/study/cell_run.hpp"
#include "sotto/study/data_sets.hpp"
#include "sotto/study/image_data.hpp"
#include "sotto/study/run_watch.hpp"

namespace sotto::study {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;

/// Results by key, appended to a file of JSON lines as they come. A line that was cut off by a
/// crash is ignored.
class Finished {
 public:
  explicit Finished(const std::string& path) {
    if (path.empty()) return;
    auto log = AppendLog::open(path);
    auto before = log ? log->read(kMostBytes) : Expected<std::string>("");
    if (!before) return;
    std::istringstream lines(*before);
    for (std::string line; std::getline(lines, line);) {
      const auto json = parse_json(line);
      if (json && json->is_object() && json->contains("key"))
        results_[(*json)["key"]] = (*json)["result"];
    }
    if (log) log_ = *std::move(log);
    if (log_ && !before->empty() && !before->ends_with('\n') && !log_->append("\n")) log_.reset();
  }
  const nlohmann::json* find(const std::string& key) const {
    const auto found = results_.find(key);
    return found == results_.end() ? nullptr : &found->second;
  }
  void add(const std::string& key, const nlohmann::json& result) {
    results_[key] = result;
    // Where it can't be kept it is computed again.
    if (log_ && !log_->append(json_text(nlohmann::json{{"key", key}, {"result", result}}) + "\n"))
      log_.reset();
  }

 private:
  std::map<std::string, nlohmann::json> results_;
  std::optional<AppendLog> log_;
};

/// Data sets that were needed so far. One of each size is kept at a time.
class DataCache {
 public:
  DataCache(const StudySpec& spec, const RunOptions& options) : spec_(spec), options_(options) {}

  Expected<const DataSet*> get(const CellSpec& cell) {
    const DataSpec& data = spec_.data.at(cell.data);
    std::int64_t rows = cell.rows > 0 ? cell.rows : data.rows;
    if (options_.quick && spec_.quick_rows > 0)
      rows = rows > 0 ? std::min(rows, spec_.quick_rows) : spec_.quick_rows;
    const std::string key = fmt::format("{} {} {} {}", cell.data, cell.model, rows, cell.dim);
    if (auto found = sets_.find(key); found != sets_.end()) return found->second.get();
    if (sets_.size() >= 4) sets_.clear();
    SOTTO_ASSIGN(
        DataSet set,
        are_images(data)
            ? load_images(
                  data, cell.model, options_.data_folders, options_.keep, rows, options_.progress)
            : load_data(data, options_.data_folders, options_.specs_folder, rows, cell.dim));
    return (sets_[key] = std::make_unique<DataSet>(std::move(set))).get();
  }

 private:
  const StudySpec& spec_;
  const RunOptions& options_;
  std::map<std::string, std::unique_ptr<DataSet>> sets_;
};

std::string text_of(const CellSpec& cell, const ArmSpec& arm, Way way, int runs) {
  std::string text = fmt::format("{} {} {}", key_of(cell), name_of(way, kWays), arm.method);
  for (const auto& [name, value] : arm.options) text += fmt::format(" {}={}", name, value);
  if (cell.model != "linear") text += " " + cell.model;
  if (!arm.epochs.empty()) text += " epochs=" + arm.epochs;
  if (!arm.noise.empty()) text += " noise=" + arm.noise;
  for (const auto& [name, value] : arm.noise_arguments) text += fmt::format(" {}={}", name, value);
  return text + fmt::format(" {} {} {} {} rows={} dim={} x {}",
                            cell.loss,
                            cell.regularizer,
                            cell.neighbours,
                            cell.delta,
                            cell.rows,
                            cell.dim,
                            runs);
}

class Runner {
 public:
  Runner(const StudySpec& spec, const RunOptions& options)
      : spec_(spec), options_(options), data_(spec, options), finished_(options.finished) {}

  Expected<Results> run() {
    Results results;
    results.name = spec_.name;
    results.version = kVersion;
    results.command = options_.command;
    results.machine = machine_class();
    results.quick = options_.quick;
    for (const CellSpec& cell : spec_.cells) {
      if (options_.quick && !cell.quick) continue;
      CellResult result;
      result.key = key_of(cell);
      if (cell.recipe) {
        SOTTO_ASSIGN(result.recipe, fill(cell, *cell.recipe, Way::kRecipe));
      }
      if (cell.best) {
        SOTTO_ASSIGN(result.best, fill(cell, *cell.best, Way::kBest));
      }
      results.cells.push_back(std::move(result));
    }
    return results;
  }

 private:
  int runs_of(const ArmSpec& arm) const {
    int runs = options_.runs > 0 ? options_.runs : options_.quick ? spec_.quick_runs : spec_.runs;
    if (arm.most_runs) runs = std::min(runs, static_cast<int>(*arm.most_runs));
    return std::max(1, runs);
  }

  static ArmResult missing(std::string why) {
    ArmResult result;
    result.missing = std::move(why);
    return result;
  }

  Expected<ArmResult> fill(CellSpec cell, ArmSpec arm, Way way) {
    if (arm.rows > 0) cell.rows = arm.rows;
    if (options_.quick) merge(arm.options, arm.quick_options);
    const int runs = runs_of(arm);
    std::string key = text_of(cell, arm, way, runs);
    if (options_.quick) key += fmt::format(" quick {}", spec_.quick_rows);
    if (const auto* done = finished_.find(key)) return arm_from_json(*done);
    if (fmt::format("{} {}", key_of(cell), name_of(way, kWays)).find(options_.only) ==
        std::string::npos)
      return missing("not run");
    const auto set_or_not = data_.get(cell);
    if (!set_or_not && set_or_not.error().kind == ErrorKind::kIo &&
        are_images(spec_.data.at(cell.data)))
      return missing(fmt::format("{} was missing", spec_.data.at(cell.data).train));
    SOTTO_ASSIGN(const DataSet* set, set_or_not);
    SOTTO_ASSIGN(CellRun one, CellRun::make(spec_, cell, arm, *set));
    if (needs_optimum()) {
      SOTTO_ASSIGN(const double optimum, optimum_of(cell, *set, one));
      one.set_optimum(optimum);
    }
    for (int k = 0; k < runs; ++k) {
      const std::string what = fmt::format(
          "{}: {}, {}, run {} of {}", spec_.name, key_of(cell), arm.method, k + 1, runs);
      if (!options_.progress(what)) return interrupted();
      const std::uint64_t seed =
          spec_.seeds.empty() ? spec_.first_seed + static_cast<std::uint64_t>(k)
                              : spec_.seeds[static_cast<std::size_t>(k) % spec_.seeds.size()];
      RunWatch watch(what, options_.progress);
      SOTTO_TRY(one.add_run(seed, watch));
      if (watch.stopped()) return interrupted();
    }
    SOTTO_ASSIGN(ArmResult result, one.result());
    finished_.add(key, to_json(result));
    return result;
  }

  bool needs_optimum() const {
    return std::find(spec_.columns.begin(), spec_.columns.end(), "gap") != spec_.columns.end();
  }

  Expected<double> optimum_of(const CellSpec& cell, const DataSet& set, const CellRun& one) {
    const std::string key = fmt::format("optimum {} n {} d {} {} {}",
                                        cell.data,
                                        set.train.rows(),
                                        set.train.dim(),
                                        cell.loss,
                                        cell.regularizer);
    if (const auto* done = finished_.find(key)) return done->get<double>();
    SOTTO_ASSIGN(const double optimum, one.optimum());
    finished_.add(key, optimum);
    return optimum;
  }

  const StudySpec& spec_;
  const RunOptions& options_;
  DataCache data_;
  Finished finished_;
};

}  // namespace

Expected<Results> run(const StudySpec& spec, const RunOptions& options) {
  return Runner(spec, options).run();
}

std::string machine_class() {
#if defined(__x86_64__)
  const char* family = runs_x86_64_v3() ? "x86-64-v3" : "x86-64";
#else
  const char* family = "other";
#endif
  return fmt::format("{}, {} cores", family, std::max(1u, std::thread::hardware_concurrency()));
}

}  // namespace sotto::study
